#pragma once

#include <cstdint>

namespace palimpsest {

/// C = A B, [M, N] from [M, K] and [K, N], rows one after the other. Throws Error with CUDA's words.
template <class Scalar>
void multiply(const Scalar* A, const Scalar* B, Scalar* C, std::int64_t M, std::int64_t K, std::int64_t N);

}  // namespace palimpsest
