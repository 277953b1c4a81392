// A plain product of two matrices, of every head: a block makes one tile of the result. And rounding.

#include "kernels/cuda/head_matrices.h"

#include <cuda_bf16.h>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/tile_product.cuh"

namespace palimpsest {

namespace {

/// Where tiles of the second fill half of the device, its blocks have the least to load for a product; else
/// the first spreads the work, in longer pieces, since a block then waits for each.
template <class Scalar>
using SmallTile = Tile<Scalar, 2, 4, 32>;
template <class Scalar>
using LargeTile = Tile<Scalar, 4, 8>;

/// D_mn = a sum_k A_mk B_kn + b C_mn
template <class Scalar, class Tile>
__global__ void __launch_bounds__(Tile::threads, sizeof(Scalar) == sizeof(float) ? 2 : 1)
    multiply_tiles(std::int64_t heads, Scalar a, const HeadMatrices<const Scalar> A,
                   const HeadMatrices<const Scalar> B, Scalar b, const HeadMatrices<const Scalar> C,
                   const HeadMatrices<Scalar> D) {
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

/// bf16 is the upper half of an f32: a number is rounded to it and kept as wide as it was, so that every
/// kernel can take it.
__device__ float rounded(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
__device__ double rounded(double x) { return __bfloat162float(__double2bfloat16(x)); }

template <class Scalar>
__global__ void round_each(Scalar* numbers, std::int64_t count) {
  const std::int64_t i = thread_number();
  if (i < count) numbers[i] = rounded(numbers[i]);
}

}  // namespace

template <class Scalar>
void multiply(std::int64_t heads, std::type_identity_t<Scalar> a, const GivenMatrices<Scalar>& A,
              const GivenMatrices<Scalar>& B, std::type_identity_t<Scalar> b, const GivenMatrices<Scalar>& C,
              const HeadMatrices<Scalar>& D) {
  const auto in_tiles = [&]<class Tile>(std::type_identity<Tile>) {
    launch(multiply_tiles<Scalar, Tile>,
           {{blocks_for(D.rows, Tile::height),
             blocks_for(std::min(Tile::tiles_along(D.columns), most_grid_blocks)),
             blocks_for(std::min(heads, most_grid_blocks))},
            Tile::threads},
           heads, a, A, B, b, C, D);
  };
  const bool is_large = D.rows > SmallTile<Scalar>::height &&
                        2 * heads * LargeTile<Scalar>::tiles(D.rows, D.columns) >= multiprocessors();
  if (is_large)
    in_tiles(std::type_identity<LargeTile<Scalar>>());
  else
    in_tiles(std::type_identity<SmallTile<Scalar>>());
}

template <class Scalar>
void cuda::round_to_bf16(Scalar* numbers, std::int64_t count) {
  constexpr int threads = 256;
  launch(round_each<Scalar>, {blocks_for(count, threads), threads}, numbers, count);
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                               \
  template void multiply<Scalar>(std::int64_t, Scalar, const GivenMatrices<Scalar>&,                 \
                                 const GivenMatrices<Scalar>&, Scalar, const GivenMatrices<Scalar>&, \
                                 const HeadMatrices<Scalar>&);                                       \
  template void cuda::round_to_bf16(Scalar*, std::int64_t);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
