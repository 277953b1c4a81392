#pragma once

#include "core/rules/backend.h"

namespace palimpsest {

/// The CUDA kernels on the first device; refuses everything, with the reason, where there is none.
const Backend& cuda_backend();

}  // namespace palimpsest
