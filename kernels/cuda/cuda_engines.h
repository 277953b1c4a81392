#pragma once

#include "core/engines/engines.h"

namespace palimpsest {

/// The engines on the first CUDA device.
const DeviceEngines& cuda_engines();

}  // namespace palimpsest
