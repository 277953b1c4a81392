#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"

// T = (I + diag(beta) L)^-1 diag(beta) of a chunk of 64 tokens, L strictly lower triangular: by a warpgroup,
// in place of L in a tile of f16 that has 0 above the blocks of 16 x 16 on the diagonal.
//
// A warp takes its block on the diagonal by substitution in f32, a lane a column. Then triangles [A 0; C D]
// of two are merged, twice: what stands left of T_D and below T_A is -T_D C T_A. With beta in T and not in L
// nothing is multiplied afterwards. Not by doubling, which loses all digits where keys are alike.

namespace palimpsest::hopper::unit_lower {

inline constexpr int block = unit_lower_block;
inline constexpr int blocks = tile_rows / block;

/// Waits for the whole warpgroup. Others of the thread block have barriers 0 to 3.
__device__ inline void meet_all() { meet(4, warpgroup_size); }

/// Puts this warp's block of T into the tile.
__device__ inline void solve(const Diagonal& of, Tile& T) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first = static_cast<int>(threadIdx.x % warpgroup_size / 32) * block;
  const int column = lane % block;
  const float beta = of.at[column][column];
  float x[block];
  unrolled<block>([&](int i) { x[i] = column == i ? beta : 0; });
  unrolled<block - 1>([&](int j) {
    unrolled<block / 4>([&](int four) {
      if (4 * four + 3 <= j) return;
      const float4 rows = reinterpret_cast<const float4&>(of.at[j][4 * four]);
      const float L[4] = {rows.x, rows.y, rows.z, rows.w};
      unrolled<4>([&](int i) {
        if (4 * four + i > j) x[4 * four + i] -= L[i] * x[j];
      });
    });
  });
  if (lane >= block) return;
  const std::uint32_t place = not_before(shared_address(&T) + first * 128 + (first + column) * 2);
  unrolled<block>([&](int i) {
    const __half rounded = __float2half_rn(x[i]);
    asm volatile("st.shared.b16 [%0], %1;" ::"r"((place ^ i % 8 * 16) + i * 128),
                 "h"(reinterpret_cast<const unsigned short&>(rounded))
                 : "memory");
  });
}

/// sums = sums + left right for a block in a tile; sums lie as Sums do, in one warp.
__device__ inline void multiply(float (&sums)[8], const Left& left, std::uint32_t right) {
  const Left numbers = load_squares_transposed(right);
  unrolled<2>([&](int half) {
    multiply_squares<Half>(sums + 4 * half, left, numbers.at[2 * half], numbers.at[2 * half + 1]);
  });
}

/// By two warps: 16 rows from `row` on of -T_D C T_A, where A and D have `width` columns and A begins at
/// `first`.
template <int width>
__device__ void merge(const Tile& T, int first, int row) {
  const std::uint32_t corner = squares(&T);
  const std::uint32_t A = further(corner, first, first);
  const std::uint32_t C = further(A, width, 0);
  const std::uint32_t own = further(corner, row, first);
  Left D[width / block];
  unrolled<width / block>([&](int k) { D[k] = load_squares(further(own, 0, width + block * k)); });
  Left DC[width / block];
  unrolled<width / block>([&](int n) {
    float sums[8] = {};
    unrolled<width / block>([&](int k) { multiply(sums, D[k], further(C, block * k, block * n)); });
    DC[n] = as_left<Half>(sums, -1);
  });
  meet(5, 64);  // both warps have read C
  unrolled<width / block>([&](int n) {
    float sums[8] = {};
    unrolled<width / block>([&](int k) {
      if (k >= n) multiply(sums, DC[k], further(A, block * k, block * n));  // above, A is 0
    });
    store_squares(further(own, 0, block * n), as_left<Half>(sums));
  });
}

/// Turns L below the blocks on the diagonal, which are T's already, into T. Two warps have no part in it and
/// call meanwhile().
template <class Meanwhile>
__device__ void merge_blocks(Tile& T, Meanwhile meanwhile) {
  const int warp = static_cast<int>(threadIdx.x % warpgroup_size / 32);
  const bool merges = warp < 2;
  meet_all();
  if (merges) merge<block>(T, 2 * block * warp, 2 * block * warp + block);
  meet_all();
  if (merges)
    merge<2 * block>(T, 0, 2 * block + block * warp);
  else
    meanwhile();
}

}  // namespace palimpsest::hopper::unit_lower
