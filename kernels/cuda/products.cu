// A plain product of two matrices, of every head: a block makes one tile of the result.

#include <algorithm>

#include "kernels/cuda/check.h"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/tile_product.cuh"

namespace palimpsest {

namespace {

template <class Scalar>
using ProductTile = Tile<Scalar, 1>;

/// D_mn = a sum_k A_mk B_kn + b C_mn
template <class Scalar>
__global__ void __launch_bounds__(ProductTile<Scalar>::threads)
    multiply_tiles(std::int64_t heads, Scalar a, const HeadMatrices<const Scalar> A,
                   const HeadMatrices<const Scalar> B, Scalar b, const HeadMatrices<const Scalar> C,
                   const HeadMatrices<Scalar> D) {
  using Tile = ProductTile<Scalar>;
  using enum Neighbours;
  __shared__ typename Tile::Room room;
  const std::int64_t first_m = std::int64_t{blockIdx.x} * Tile::height;
  for (std::int64_t head = blockIdx.z; head < heads; head += gridDim.z) {
    for (std::int64_t first_n = std::int64_t{blockIdx.y} * Tile::columns; first_n < D.columns;
         first_n += std::int64_t{gridDim.y} * Tile::columns) {
      Tile products(room, D.rows - first_m, D.columns - first_n);
      const auto left = [&](int m, std::int64_t k) { return A(head, first_m + m, k); };
      const auto right = [&](std::int64_t k, int n) { return B(head, k, first_n + n); };
      const bool A_along = A.column_stride == 1;
      const bool B_across = B.column_stride == 1;
      if (A_along && B_across) products.template add<along_the_sum, across_the_sum>(A.columns, left, right);
      if (A_along && !B_across) products.template add<along_the_sum, along_the_sum>(A.columns, left, right);
      if (!A_along && B_across) products.template add<across_the_sum, across_the_sum>(A.columns, left, right);
      if (!A_along && !B_across) products.template add<across_the_sum, along_the_sum>(A.columns, left, right);
      products.each([&](int m, int n, Scalar sum) {
        Scalar& D_mn = D(head, first_m + m, first_n + n);
        D_mn = b == 0 ? a * sum : a * sum + b * C(head, first_m + m, first_n + n);
      });
    }
  }
}

}  // namespace

template <class Scalar>
void multiply(std::int64_t heads, std::type_identity_t<Scalar> a, const GivenMatrices<Scalar>& A,
              const GivenMatrices<Scalar>& B, std::type_identity_t<Scalar> b, const GivenMatrices<Scalar>& C,
              const HeadMatrices<Scalar>& D) {
  if (heads * D.rows * D.columns == 0) return;
  using Tile = ProductTile<Scalar>;
  const dim3 grid(blocks_for(D.rows, Tile::height),
                  static_cast<unsigned>(std::min(Tile::tiles_along(D.columns), cuda::most_grid_blocks)),
                  static_cast<unsigned>(std::min(heads, cuda::most_grid_blocks)));
  multiply_tiles<Scalar><<<grid, Tile::threads>>>(heads, a, A, B, b, C, D);
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
