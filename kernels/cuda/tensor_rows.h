#pragma once

#include <functional>

#include "kernels/cuda/row_kernels.h"

// The kernels on tensor cores, on the side of the host.

namespace palimpsest::cuda {

/// Whether the first device has tensor cores for numbers with this rounding: for bf16 those that
/// kernels/cuda/hopper is written for.
bool has_tensor_cores(Rounding rounding);

/// Calls what launches the kernels of a run, between its uploads and its downloads.
using Computes = std::function<void(const std::function<void()>&)>;

/// Computes row programs of all heads in chunks on tensor cores, those that fit_tensor_cores()
/// (core/engines/device_engines.h), with sums and states in f32: in bf16 by chunks of 64 tokens of rows that
/// are rounded already, or in tf32 by chunks of 32. Outputs and final states go where `programs` wants them.
/// Throws Error where the device has no room for the tables.
void run_on_tensor_cores(const RowPrograms<float>& programs, Rounding rounding, const Computes& compute);

/// Computes causal softmax attention of all heads, that which fits_tensor_cores(), likewise: o [H, T, V]. The
/// last query's own key is the last one.
void run_on_tensor_cores(const Attention<float>& attention, const DeviceRows<float>& o, Rounding rounding,
                         const Computes& compute);

}  // namespace palimpsest::cuda
