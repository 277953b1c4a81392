// One wgmma of a warpgroup after the other, left factors in registers, right ones in shared memory, as
// kernels use them. The numbers are spread over their range, because zeros are computed faster than other
// numbers.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"
#include "kernels/cuda/multiply_adds.h"

namespace palimpsest::cuda {

namespace {

using namespace hopper;

constexpr int warpgroups = 2;  // of a block
constexpr int threads = warpgroups * warpgroup_size;
constexpr int blocks_per_multiprocessor = 8;
constexpr int products = 8;  // before they are awaited
constexpr int rounds = 2048;
constexpr int columns = 128;

/// Some number between -1 and 1.
__device__ float spread(unsigned i) {
  i *= 2654435761U;
  i ^= i >> 15;
  return static_cast<float>(i & 0xffffU) / 32768.0F - 1;
}

__global__ void __launch_bounds__(threads) multiply_often(double* seen) {
  __shared__ Tile tiles[2];
  auto* const numbers = reinterpret_cast<std::uint32_t*>(tiles);
  for (unsigned i = threadIdx.x; i < sizeof(tiles) / sizeof(std::uint32_t); i += threads)
    numbers[i] = packed<Bfloat>(spread(2 * i), spread(2 * i + 1));
  Left left;
  for (unsigned i = 0; i < 4; ++i)
    left.at[i] = packed<Bfloat>(spread(8 * threadIdx.x + i), spread(8 * threadIdx.x + i + 4));
  publish_to_tensor_cores();
  __syncthreads();
  Sums<columns> sums = {};
  const std::uint64_t right = tiles_for_product(tiles, Along::rows);
  for (int round = 0; round < rounds; ++round) {
    begin_products();
#pragma unroll
    for (int i = 0; i < products; ++i)
      multiply<Bfloat, Along::rows>(sums, left, further(right, Along::rows, i % 4));
    end_products();
    await_products(sums);
  }
  float total = 0;
#pragma unroll
  for (const float sum : sums.at) total += sum;
  if (total == 0.123F) *seen = total;  // hardly ever true; keeps the compiler from removing the work
}

}  // namespace

double hopper_multiply_adds(double* seen) {
  const int blocks = blocks_per_multiprocessor * multiprocessors();
  launch(multiply_often, {blocks_for(blocks), threads}, seen);
  constexpr double of_a_product = 2.0 * tile_rows * columns * 16;
  return of_a_product * products * rounds * warpgroups * blocks;
}

}  // namespace palimpsest::cuda
