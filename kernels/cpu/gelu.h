#pragma once

#include "core/base/matrix.h"

namespace palimpsest::cpu {

/// y_i = gelu(x_i) (core/numbers/gelu.h) for i < count, in vector instructions. x and y may be the same.
void gelu(const float* x, Index count, float* y);

/// y_i = d gelu / dx at x_i.
void gelu_derivative(const float* x, Index count, float* y);

}  // namespace palimpsest::cpu
