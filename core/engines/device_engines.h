#pragma once

namespace palimpsest {

/// The engines of one device in both precisions (core/engines/engines.h).
struct DeviceEngines;

/// Those of core, on the processor.
const DeviceEngines& cpu_engines();

}  // namespace palimpsest
