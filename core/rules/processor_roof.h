#pragma once

#include "core/base/matrix.h"
#include "core/rules/run_times.h"

namespace palimpsest {

/// What this processor does at most with all its threads, measured in about a second: copies of buffers that
/// no cache holds, and Eigen's products of matrices that stay in one. The best of a few tries.
Roof processor_roof(Precision precision);

}  // namespace palimpsest
