#pragma once

#include "core/operator/program.h"

// Which rows and which attention the fast kernels of a GPU know (docs/kernels.md). That is said here, where
// no GPU is needed, because a report of another machine is asked too what its times were taken of.

namespace palimpsest {

/// The most key channels of rows, and channels of attention, that the kernels for tensor cores hold.
inline constexpr Index most_tensor_core_channels = 128;

/// The most key channels that the kernel of the recurrent form holds in registers.
inline constexpr Index most_register_channels = 896;

/// Whether the kernels for tensor cores compute rows of this structure, chunk by chunk.
bool fit_tensor_cores(const Structure& structure, Index K);

/// Whether they compute softmax attention of these sizes; `fades`: whether keys do.
bool fits_tensor_cores(Index K, Index V, bool fades);

/// Whether a kernel computes rows of this structure row by row with the memory in registers.
bool fit_registers(const Structure& structure, Index K);

}  // namespace palimpsest
