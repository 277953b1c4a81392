#pragma once

#include <functional>

#include "core/base/matrix.h"

namespace palimpsest {

/// Calls body(0) ... body(count - 1) on up to `threads` threads, this one among them. If calls throw, no
/// further ones are started and the exception of the lowest index is thrown, as in a plain loop.
void parallel_for(Index count, unsigned threads, const std::function<void(Index)>& body);

}  // namespace palimpsest
