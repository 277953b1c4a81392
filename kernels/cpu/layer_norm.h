#pragma once

#include "core/base/matrix.h"

namespace palimpsest::cpu {

// The functions of LayerNorm (core/numbers/layer_norm.h) for L rows of V numbers, one after the other in
// memory.

/// `rows` at mean 0 and deviation 1, and the `deviations` [L] that they had.
void standardise(const float* Y, Index L, Index V, float eps, float* rows, float* deviations);

/// gain o X + bias, row by row.
void stretch(const float* X, Index L, Index V, const float* gain, const float* bias, float* Y);

/// The gradient with respect to Y.
void norm_gradient(const float* delta, const float* rows, const float* deviations, Index L, Index V,
                   float* G);

}  // namespace palimpsest::cpu
