// bf16 is the upper half of an f32: a number is rounded to it and kept as wide as it was, so that every
// kernel can take it.

#include <cuda_bf16.h>

#include "kernels/cuda/check.h"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

namespace {

__device__ float rounded(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
__device__ double rounded(double x) { return __bfloat162float(__double2bfloat16(x)); }

template <class Scalar>
__global__ void round_each(Scalar* numbers, std::int64_t count) {
  const std::int64_t i = thread_number();
  if (i < count) numbers[i] = rounded(numbers[i]);
}

}  // namespace

template <class Scalar>
void round_to_bf16(Scalar* numbers, std::int64_t count) {
  constexpr int threads = 256;
  if (count == 0) return;
  round_each<<<blocks_for(count, threads), threads>>>(numbers, count);
  CHECK_CUDA(cudaGetLastError());
}

template void round_to_bf16(double*, std::int64_t);
template void round_to_bf16(float*, std::int64_t);

}  // namespace palimpsest::cuda
