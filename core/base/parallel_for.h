#pragma once

#include <functional>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/matrix.h"

namespace palimpsest {

/// Calls body(0) ... body(count - 1) on up to `threads` threads, including the calling one; loops that run at
/// the same time, or inside of one another, share the others. If a call throws, no further ones are started
/// and the exception of the lowest index is thrown, as in a plain loop.
void parallel_for(Index count, unsigned threads, const std::function<void(Index)>& body);

/// How many threads the processor runs at once; 1 if unknown.
unsigned processor_threads();

/// From now on processor_threads() is `count`: a page may begin no more than it said when it was opened.
void use_threads(unsigned count);

/// The results of make(0) ... make(count - 1), in this order, computed on all processor threads. Throws
/// Cancelled when asked to stop.
template <class Make>
auto made_in_parallel(std::size_t count, const std::stop_token& stop, Make make) {
  std::vector<std::invoke_result_t<Make&, std::size_t>> all(count);
  parallel_for(static_cast<Index>(count), processor_threads(), [&](Index i) {
    stop_if_asked(stop);
    entry(all, i) = make(static_cast<std::size_t>(i));
  });
  return all;
}

}  // namespace palimpsest
