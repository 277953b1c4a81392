#pragma once

#include "core/base/matrix.h"

namespace palimpsest::cuda {

/// Q S on the first device: [R, V]. Throws Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S);

}  // namespace palimpsest::cuda
