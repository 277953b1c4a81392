#pragma once

#include <cstdint>

namespace palimpsest {

/// Blocks of so many threads that have one for each of `count`.
inline unsigned blocks_for(std::int64_t count, int threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// The number of this thread in a grid of one axis.
__device__ inline std::int64_t thread_number() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

inline constexpr int warp_size = 32;

/// The sum of what the lanes of a warp have, in all of them.
template <class Scalar>
__device__ Scalar sum_of_lanes(Scalar x) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffffU, x, distance);
  return x;
}

/// The largest of what the lanes of a warp have, in all of them.
template <class Scalar>
__device__ Scalar largest_of_lanes(Scalar x) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    x = max(x, __shfl_xor_sync(0xffffffffU, x, distance));
  return x;
}

}  // namespace palimpsest
