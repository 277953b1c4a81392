#include "core/base/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace palimpsest {

void parallel_for(Index count, unsigned threads, const std::function<void(Index)>& body) {
  std::atomic<Index> next = 0;
  std::mutex mutex;
  Index failed = count;
  std::exception_ptr failure;
  // Indices are handed out in order, so every index below a failing one is tried as well.
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        next = count;
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const Index wanted = std::min<Index>(count, threads) - 1;
    try {
      for (Index i = 0; i < wanted; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // Fewer threads only take longer.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

unsigned processor_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace palimpsest
