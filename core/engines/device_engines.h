#pragma once

namespace palimpsest {

/// The engines of one device, by what holds the numbers (core/engines/engines.h).
struct DeviceEngines;

/// Those of core, on the processor.
const DeviceEngines& cpu_engines();

}  // namespace palimpsest
