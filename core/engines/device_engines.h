#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

struct Structure;

/// What an engine computes whole heads with (docs/kernels.md).
enum class KernelKind {
  plain,        // written for readability: it computes the tensors of every step
  vectors,      // on the processor, with vector instructions
  registers,    // row by row, with the memory in registers
  tensor_cores  // matrix products on tensor cores
};

inline constexpr KernelKind all_kernel_kinds[] = {KernelKind::plain, KernelKind::vectors,
                                                  KernelKind::registers, KernelKind::tensor_cores};

/// "plain kernel", "vector instructions", "in registers", "tensor cores".
const char* name(KernelKind kernel);

/// The engines of one device, by Scalar type (core/engines/engines.h).
struct DeviceEngines;

/// The engines of core, on the processor, which kernels/cpu is measured against.
const DeviceEngines& cpu_engines();

// Which rows and which attention the fast kernels support (docs/kernels.md). It is stated here, without
// a GPU, because it is also needed for the report of another machine.

/// The most key channels of rows, and channels of attention, that the kernels for tensor cores hold.
inline constexpr Index most_tensor_core_channels = 128;

/// The most key channels that the kernel of the recurrent form holds in registers.
constexpr Index most_register_channels(bool decays_by_channel) { return decays_by_channel ? 256 : 896; }

/// Whether the kernels for tensor cores compute rows of this structure, chunk by chunk.
bool fit_tensor_cores(const Structure& structure, Index K);

/// Whether they compute softmax attention of these sizes; `fades`: whether keys decay.
bool fits_tensor_cores(Index K, Index V, bool fades);

/// Whether a kernel computes rows of this structure row by row with the memory in registers.
bool fit_registers(const Structure& structure, Index K);

/// Whether the processor's kernel computes rows of this structure row by row with vector instructions.
bool fit_vectors(const Structure& structure);

}  // namespace palimpsest
