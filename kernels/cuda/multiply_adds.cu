// As many multiply-adds as a device can do: every thread keeps some chains in registers, none of which waits
// for another, x <- a x + b.

#include "kernels/cuda/check.h"
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

}  // namespace

template <class Scalar>
double multiply_adds(double* seen) {
  int multiprocessors = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = blocks_per_multiprocessor * multiprocessors;
  chain_multiply_adds<Scalar><<<blocks, threads>>>(Scalar(0.5), Scalar(1), seen);
  CHECK_CUDA(cudaGetLastError());
  return 2.0 * chains * steps * threads * blocks;
}

template double multiply_adds<double>(double*);
template double multiply_adds<float>(double*);

}  // namespace palimpsest::cuda
