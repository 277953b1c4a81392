#pragma once

// Gates of a chunk of 64 tokens, one for each token.

namespace palimpsest {

/// g, but at least -100: e^-100 is 0 in f32, and running sums stay finite and exact enough.
__device__ inline float bounded(float g) { return fmaxf(g, -100.0F); }

/// Running sums of g by one warp; a lane has the g of tokens 2 lane and 2 lane + 1.
__device__ inline void add_up(float first, float second, float* G) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const float both = bounded(first) + bounded(second);
  float sum = both;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(0xffffffffU, sum, distance);
    if (lane >= distance) sum += before;
  }
  G[2 * lane] = sum - both + bounded(first);
  G[2 * lane + 1] = sum;
}

}  // namespace palimpsest
