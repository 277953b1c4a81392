#pragma once

#include <cstdint>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// D = a A B + b C of every head: [M, N] from [M, K], [K, N] and [M, N]. C may be D, and is not read where b
/// is 0. Throws Error with CUDA's words.
template <class Scalar>
void multiply(std::int64_t heads, std::type_identity_t<Scalar> a, const GivenMatrices<Scalar>& A,
              const GivenMatrices<Scalar>& B, std::type_identity_t<Scalar> b, const GivenMatrices<Scalar>& C,
              const HeadMatrices<Scalar>& D);

/// C = A B, [M, N] from [M, K] and [K, N], rows one after the other. Throws Error with CUDA's words.
template <class Scalar>
void multiply(const Scalar* A, const Scalar* B, Scalar* C, std::int64_t M, std::int64_t K, std::int64_t N);

}  // namespace palimpsest
