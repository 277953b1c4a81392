#pragma once

#include <functional>
#include <string>

#include "core/base/matrix.h"
#include "core/rules/run_times.h"

namespace palimpsest::cuda {

/// What `run` takes on the first device, in parts; what it computes, as often as `repeats` says. Throws
/// what it throws, and Error with CUDA's words.
RunTimes measure(const Repeats& repeats, const std::function<void()>& run);

/// What is in these times.
std::string what_is_timed();

/// What the first device does at most, by the best of a few tries: copies in its memory, and multiply-adds in
/// registers. Throws Error with CUDA's words.
Roof roof(Precision precision);

}  // namespace palimpsest::cuda
