#pragma once

#include "core/engines/engines.h"

namespace palimpsest {

/// The engines on the first CUDA device. For bf16 those in f32 round rows of q, k and v as they come, and
/// outputs as they go.
const DeviceEngines& cuda_engines(Precision precision);

}  // namespace palimpsest
