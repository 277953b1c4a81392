#pragma once

namespace palimpsest {

/// What an engine computes whole heads with (docs/kernels.md).
enum class KernelKind {
  plain,        // written to be read: it makes the tensors of every step
  registers,    // row by row, with the memory in registers
  tensor_cores  // matrix products on tensor cores
};

inline constexpr KernelKind all_kernel_kinds[] = {KernelKind::plain, KernelKind::registers,
                                                  KernelKind::tensor_cores};

/// "plain kernel", "in registers", "tensor cores".
const char* name(KernelKind kernel);

/// The engines of one device, by what holds the numbers (core/engines/engines.h).
struct DeviceEngines;

/// Those of core, on the processor.
const DeviceEngines& cpu_engines();

}  // namespace palimpsest
