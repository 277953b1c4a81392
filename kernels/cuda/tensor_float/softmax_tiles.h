#pragma once

#include "kernels/cuda/softmax.h"

namespace palimpsest::tensor_float {

/// Causal softmax attention of all heads without gates, K and V up to 128, in tf32 with sums in f32: o [L, H,
/// V]. Key row 0 is number 0. Throws Error with CUDA's words.
void softmax(const Attention<float>& attention, const DeviceRows<float>& o);

}  // namespace palimpsest::tensor_float
