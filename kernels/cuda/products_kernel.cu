// A plain product of two matrices: one thread per element of the result.

#include "kernels/cuda/check.h"
#include "kernels/cuda/products_kernel.h"

namespace palimpsest {

namespace {

constexpr int threads = 128;

/// C_mn = sum_k A_mk B_kn
template <class Scalar>
__global__ void multiply_elements(const Scalar* A, const Scalar* B, Scalar* C, std::int64_t M, std::int64_t K,
                                  std::int64_t N) {
  const std::int64_t index = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (index >= M * N) return;
  const std::int64_t m = index / N;
  const std::int64_t n = index % N;
  Scalar sum = 0;
  for (std::int64_t k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
  C[index] = sum;
}

}  // namespace

template <class Scalar>
void multiply(const Scalar* A, const Scalar* B, Scalar* C, std::int64_t M, std::int64_t K, std::int64_t N) {
  if (M * N == 0) return;
  multiply_elements<<<static_cast<unsigned>((M * N + threads - 1) / threads), threads>>>(A, B, C, M, K, N);
  CHECK_CUDA(cudaGetLastError());
}

template void multiply(const double*, const double*, double*, std::int64_t, std::int64_t, std::int64_t);
template void multiply(const float*, const float*, float*, std::int64_t, std::int64_t, std::int64_t);

}  // namespace palimpsest
