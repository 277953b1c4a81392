#pragma once

#include "core/engines/engines.h"

namespace palimpsest {

/// The engines on the first CUDA device for a precision. All hold their numbers as f64 or f32; for bf16 those
/// in f32 round rows of q, k and v as they come, and outputs as they go; for tf32 they compute whole heads by
/// the kernels that round the factors of products, or throw Unsupported, and single steps as f32 does.
const DeviceEngines& cuda_engines(Precision precision);

}  // namespace palimpsest
