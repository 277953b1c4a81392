#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "core/base/error.h"

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

/// Calls put(i, take(i)) for i = first, first + step and so on below `end`, by one thread, which takes a few
/// before it puts the first of them: what it reads for one does not wait until another is written.
template <class Index, class Take, class Put>
__device__ void few_at_once(Index first, std::type_identity_t<Index> end, std::type_identity_t<Index> step,
                            Take take, Put put) {
  constexpr int few = 4;
  for (Index i = first; i < end; i += few * step) {
    decltype(take(i)) taken[few];
    // Beyond the end its own first one again: no load waits for a branch.
#pragma unroll
    for (int n = 0; n < few; ++n) taken[n] = take(i + n * step < end ? i + n * step : i);
#pragma unroll
    for (int n = 0; n < few; ++n) {
      if (i + n * step < end) put(i + n * step, taken[n]);
    }
  }
}

/// More parts of a state than any variant has.
inline constexpr int largest_part_count = 4;

/// Throws Error where a kernel has no room for so many parts.
inline void require_part_count(long long parts) {
  if (parts <= largest_part_count) return;
  throw Error("a state of " + std::to_string(parts) + " parts; the CUDA kernels hold at most " +
              std::to_string(largest_part_count));
}

/// e^x, and 0 below the smallest normal number, as core/numbers/exponential.h has it.
template <class Scalar>
__device__ Scalar exponential(Scalar x) {
  constexpr Scalar lowest = std::is_same_v<Scalar, double> ? Scalar(-708.39) : Scalar(-87.33);
  return x < lowest ? Scalar(0) : exp(x);
}

/// alpha, from a gate that is alpha itself or its logarithm.
template <class Scalar>
__device__ Scalar decay_of(Scalar gate, bool is_log) {
  return is_log ? exponential(gate) : gate;
}

}  // namespace palimpsest
