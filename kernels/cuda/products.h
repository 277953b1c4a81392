#pragma once

#include "core/base/matrix.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// Q S on the first device: [R, V]; Q and what comes out as `rounding` says. Throws Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S, Rounding rounding);

}  // namespace palimpsest::cuda
