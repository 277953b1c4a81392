#pragma once

#include <cstdint>

namespace palimpsest::cuda {

/// What is rounded on the way. Everything else stays as it is.
enum class Rounding {
  none,
  bf16,  // rows of q, k and v as they come to the kernels, and outputs as they go
  tf32   // the factors of matrix products on tensor cores, inside the kernels that have them
};

/// Rounds `count` numbers on the device, in their place, to the nearest bf16; of two equally near to the one
/// whose last bit is 0. Throws Error with CUDA's words.
template <class Scalar>
void round_to_bf16(Scalar* numbers, std::int64_t count);

}  // namespace palimpsest::cuda
