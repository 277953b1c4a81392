#pragma once

#include "core/engines/engines.h"

namespace palimpsest {

/// The engines on the first CUDA device.
const DeviceEngines& cuda_engines();

/// Whether they compute this kind. The others throw Unsupported.
bool has_cuda_kernels(EngineKind kind);

/// "row programs": a kind in words.
const char* describe(EngineKind kind);

}  // namespace palimpsest
