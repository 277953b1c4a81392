// As many multiply-adds as a device can do: every thread keeps some chains in registers, none of which waits
// for another, x <- a x + b. On tensor cores a chain is D <- A B + D, a warp's [16, 16] by [16, 8].

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
  if (sum < 0) *seen = sum;  // never true with positive numbers; keeps the compiler from removing the work
}

enum class Factors { bf16, tf32 };

/// D <- A B + D of ones: A [16, 16] and B [16, 8] in bf16, half as deep in tf32.
template <Factors factors>
__device__ void multiply_ones(float (&D)[4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (factors == Factors::bf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
        : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
        : "r"(0x3f803f80U));  // two numbers
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
        : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
        : "r"(0x3f800000U));
  }
#endif
}

template <Factors factors>
__global__ void chain_products(double* seen) {
  float D[chains][4];
  for (int i = 0; i < 4 * chains; ++i)
    D[i / 4][i % 4] = static_cast<float>(threadIdx.x + i);  // or one would do for all
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < chains; ++i) multiply_ones<factors>(D[i]);
  }
  float sum = 0;
  for (int i = 0; i < chains; ++i) sum += D[i][0];
  if (sum < 0) *seen = sum;
}

int blocks() { return blocks_per_multiprocessor * multiprocessors(); }

template <Factors factors>
double multiply_ones_everywhere(double* seen) {
  constexpr double of_a_product = 16 * (factors == Factors::bf16 ? 16 : 8) * 8;
  launch(chain_products<factors>, {blocks_for(blocks()), threads}, seen);
  return 2 * of_a_product * chains * steps * (threads / warp_size) * blocks();
}

}  // namespace

template <class Scalar>
double multiply_adds(double* seen) {
  launch(chain_multiply_adds<Scalar>, {blocks_for(blocks()), threads}, Scalar(0.5), Scalar(1), seen);
  return 2.0 * chains * steps * threads * blocks();
}

double bf16_multiply_adds(double* seen) { return multiply_ones_everywhere<Factors::bf16>(seen); }
double tf32_multiply_adds(double* seen) { return multiply_ones_everywhere<Factors::tf32>(seen); }

template double multiply_adds<double>(double*);
template double multiply_adds<float>(double*);

}  // namespace palimpsest::cuda
