#pragma once

#include <cstdint>

namespace palimpsest::cuda {

/// How rows of q, k and v come to the kernels, and outputs from them. Everything else stays as it is.
enum class Rounding { none, bf16 };

/// Rounds `count` numbers on the device, in their place, to the nearest bf16; of two equally near to the one
/// whose last bit is 0. Throws Error with CUDA's words.
template <class Scalar>
void round_to_bf16(Scalar* numbers, std::int64_t count);

}  // namespace palimpsest::cuda
