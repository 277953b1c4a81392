#pragma once

namespace palimpsest {

/// Which engines a rule computes with.
enum class EngineKind { rows, softmax, mamba, network, lact, mesanet, least_squares };

/// The engines of one device in both precisions (core/engines/engines.h).
struct DeviceEngines;

/// Those of core, on the processor.
const DeviceEngines& cpu_engines();

}  // namespace palimpsest
