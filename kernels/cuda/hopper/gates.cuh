#pragma once

// Gates of a chunk of 64 tokens: logarithms of decays, and sums of them, to base 2, which is what the device
// takes powers of.

namespace palimpsest {

inline constexpr float log2_e = 1.44269504F;

/// 2^x; what is not a normal number is 0.
__device__ inline float two_to(float x) {
  float power = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// log2 alpha of g = log alpha, but at least -144: 2^-144 is 0, and running sums stay finite and exact
/// enough.
__device__ inline float bounded(float g) { return fmaxf(log2_e * g, -144.0F); }

/// Running sums by one warp; a lane has the g of tokens 2 lane and 2 lane + 1.
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
