// A plain product of two matrices, of every head: a block makes one tile of the result, a thread one element.
// Tiles of both factors pass through shared memory, each read along the direction in which it lies.

#include <algorithm>

#include "kernels/cuda/check.h"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/products_kernel.h"

namespace palimpsest {

namespace {

constexpr int tile = 16;
constexpr int threads = tile * tile;

/// D_mn = a sum_k A_mk B_kn + b C_mn
template <class Scalar>
__global__ void __launch_bounds__(threads)
    multiply_tiles(std::int64_t heads, Scalar a, const HeadMatrices<const Scalar> A,
                   const HeadMatrices<const Scalar> B, Scalar b, const HeadMatrices<const Scalar> C,
                   const HeadMatrices<Scalar> D) {
  __shared__ Scalar A_tile[tile][tile + 1];
  __shared__ Scalar B_tile[tile][tile + 1];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const std::int64_t first_m = std::int64_t{blockIdx.x} * tile;
  const auto load = [&](Scalar(&to)[tile][tile + 1], const HeadMatrices<const Scalar>& from,
                        std::int64_t head, std::int64_t first_row, std::int64_t first_column) {
    const int row = from.column_stride == 1 ? y : x;
    const int column = from.column_stride == 1 ? x : y;
    const bool is_inside = first_row + row < from.rows && first_column + column < from.columns;
    to[row][column] = is_inside ? from(head, first_row + row, first_column + column) : Scalar(0);
  };
  for (std::int64_t head = blockIdx.z; head < heads; head += gridDim.z) {
    for (std::int64_t first_n = std::int64_t{blockIdx.y} * tile; first_n < D.columns;
         first_n += std::int64_t{gridDim.y} * tile) {
      Scalar sum = 0;
      for (std::int64_t k = 0; k < A.columns; k += tile) {
        load(A_tile, A, head, first_m, k);
        load(B_tile, B, head, k, first_n);
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += A_tile[y][i] * B_tile[i][x];
        __syncthreads();
      }
      const std::int64_t m = first_m + y;
      const std::int64_t n = first_n + x;
      if (m < D.rows && n < D.columns) D(head, m, n) = b == 0 ? a * sum : a * sum + b * C(head, m, n);
    }
  }
}

}  // namespace

template <class Scalar>
void multiply(std::int64_t heads, std::type_identity_t<Scalar> a, const GivenMatrices<Scalar>& A,
              const GivenMatrices<Scalar>& B, std::type_identity_t<Scalar> b, const GivenMatrices<Scalar>& C,
              const HeadMatrices<Scalar>& D) {
  if (heads * D.rows * D.columns == 0) return;
  const auto tiles = [](std::int64_t count) { return (count + tile - 1) / tile; };
  const dim3 grid(static_cast<unsigned>(tiles(D.rows)),
                  static_cast<unsigned>(std::min(tiles(D.columns), cuda::most_grid_blocks)),
                  static_cast<unsigned>(std::min(heads, cuda::most_grid_blocks)));
  multiply_tiles<Scalar><<<grid, dim3(tile, tile)>>>(heads, a, A, B, b, C, D);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void multiply(const Scalar* A, const Scalar* B, Scalar* C, std::int64_t M, std::int64_t K, std::int64_t N) {
  multiply<Scalar>(1, 1, {A, M, K, K}, {B, K, N, N}, 0, {}, {C, M, N, N});
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                               \
  template void multiply<Scalar>(std::int64_t, Scalar, const GivenMatrices<Scalar>&,                 \
                                 const GivenMatrices<Scalar>&, Scalar, const GivenMatrices<Scalar>&, \
                                 const HeadMatrices<Scalar>&);                                       \
  template void multiply<Scalar>(const Scalar*, const Scalar*, Scalar*, std::int64_t, std::int64_t,  \
                                 std::int64_t);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
