// As many multiply-adds as a device can do: every thread keeps some chains in registers, none of which waits
// for another, x <- a x + b. On tensor cores a chain is D <- A B + D, a warp's [16, 16] by [16, 8].

#include "kernels/cuda/check.h"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/multiply_adds.h"

namespace palimpsest::cuda {

namespace {

constexpr int threads = 256;
constexpr int blocks_per_multiprocessor = 32;
constexpr int chains = 8;
constexpr int steps = 4096;

template <class Scalar>
__global__ void chain_multiply_adds(Scalar a, Scalar b, double* seen) {
  Scalar x[chains];
  for (int i = 0; i < chains; ++i) x[i] = static_cast<Scalar>(threadIdx.x + i);
#pragma unroll 16
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < chains; ++i) x[i] = fma(a, x[i], b);
  }
  Scalar sum = 0;
  for (int i = 0; i < chains; ++i) sum += x[i];
  if (sum < 0) *seen = sum;  // with positive numbers it never is; so that nothing is left out as unused
}

constexpr double of_a_product = 16 * 16 * 8;

__global__ void chain_bf16_products(double* seen) {
#if __CUDA_ARCH__ >= 800
  constexpr unsigned ones = 0x3f803f80U;  // two numbers
  float D[chains][4] = {};
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < chains; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
          : "+f"(D[i][0]), "+f"(D[i][1]), "+f"(D[i][2]), "+f"(D[i][3])
          : "r"(ones));
    }
  }
  float sum = 0;
  for (int i = 0; i < chains; ++i) sum += D[i][0];
  if (sum < 0) *seen = sum;
#endif
}

int blocks() {
  int multiprocessors = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  return blocks_per_multiprocessor * multiprocessors;
}

}  // namespace

template <class Scalar>
double multiply_adds(double* seen) {
  chain_multiply_adds<Scalar><<<blocks(), threads>>>(Scalar(0.5), Scalar(1), seen);
  CHECK_CUDA(cudaGetLastError());
  return 2.0 * chains * steps * threads * blocks();
}

double bf16_multiply_adds(double* seen) {
  chain_bf16_products<<<blocks(), threads>>>(seen);
  CHECK_CUDA(cudaGetLastError());
  return 2 * of_a_product * chains * steps * (threads / warp_size) * blocks();
}

template double multiply_adds<double>(double*);
template double multiply_adds<float>(double*);

}  // namespace palimpsest::cuda
