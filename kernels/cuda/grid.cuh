#pragma once

#include <cstdint>

namespace palimpsest {

/// Blocks of so many threads that have one for each of `count`.
inline unsigned blocks_for(std::int64_t count, int threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// The number of this thread in a grid of one axis.
__device__ inline std::int64_t thread_number() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace palimpsest
