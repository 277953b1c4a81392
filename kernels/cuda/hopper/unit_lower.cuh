#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"

namespace palimpsest {

/// A matrix I + M of 64 x 64 in shared memory, M strictly lower triangular, and then its inverse. f16, but
/// for M's blocks on the diagonal, which are f32.
struct UnitLower {
  static constexpr int size = 64;
  static constexpr int block = 16;
  static constexpr int blocks = size / block;
  static constexpr int row = size + 8;  // numbers from one row to the next: eight rows lie in all banks

  alignas(16) __half at[size][row];  // M below the diagonal blocks, 0 above; becomes the inverse
  float diagonal[blocks][block]
                [block + 1];  // M in the diagonal blocks; blocks side by side lie in other banks
};

namespace unit_lower {

/// This thread's row of a 16 x 16 block, square by square.
__device__ inline std::uint32_t square(const __half (&of)[UnitLower::size][UnitLower::row], int row,
                                       int column) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return hopper::shared_address(&of[row + lane % 16][column + lane / 16 * 8]);
}

/// sums = sums + left right for the 16 x 16 block of `of` there; sums lie as hopper::Sums do, in one warp.
__device__ inline void multiply(float (&sums)[8], const hopper::Left& left,
                                const __half (&of)[UnitLower::size][UnitLower::row], int row, int column) {
  const hopper::Left right = hopper::load_squares_transposed(square(of, row, column));
  unrolled<2>([&](int half) {
    hopper::multiply_squares<hopper::Half>(sums + 4 * half, left, right.at[2 * half], right.at[2 * half + 1]);
  });
}

__device__ inline hopper::Left as_left(const float (&sums)[8], float sign = 1) {
  hopper::Left left;
  unrolled<4>(
      [&](int i) { left.at[i] = hopper::packed<__half>(sign * sums[2 * i], sign * sums[2 * i + 1]); });
  return left;
}

/// By two warps: 16 rows from `row` on of -D^-1 C A^-1, which is what stands below A^-1 and left of D^-1 in
/// the inverse of [A 0; C D], A and D of `width` columns, A beginning at `first`.
template <int width>
__device__ void merge(UnitLower& of, int first, int row) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  hopper::Left DC[width / 16];
  unrolled<width / 16>([&](int n) {
    float sums[8] = {};
    unrolled<width / 16>([&](int k) {
      multiply(sums, hopper::load_squares(square(of.at, row, first + width + 16 * k)), of.at,
               first + width + 16 * k, first + 16 * n);
    });
    DC[n] = as_left(sums, -1);
  });
  hopper::meet(1, 64);  // both warps have read C
  unrolled<width / 16>([&](int n) {
    float sums[8] = {};
    unrolled<width / 16>([&](int k) { multiply(sums, DC[k], of.at, first + 16 * k, first + 16 * n); });
    const hopper::Left block = as_left(sums);
    unrolled<4>([&](int i) {
      reinterpret_cast<std::uint32_t&>(
          of.at[row + lane / 4 + i % 2 * 8][first + 16 * n + lane % 4 * 2 + i / 2 * 8]) = block.at[i];
    });
  });
}

}  // namespace unit_lower

/// Sets M_ij and M_i(j+1), j even; 0 above the diagonal.
__device__ inline void put(UnitLower& of, int i, int j, float first, float second) {
  constexpr int block = UnitLower::block;
  if (i / block == j / block) {
    of.diagonal[i / block][i % block][j % block] = first;
    of.diagonal[i / block][i % block][j % block + 1] = second;
  } else {
    reinterpret_cast<std::uint32_t&>(of.at[i][j]) = hopper::packed<__half>(first, second);
  }
}

/// Computes the inverse; all 128 threads of a block call it after all pairs were put. The diagonal blocks by
/// substitution in f32, a thread a column; then two triangles are merged, twice. Not by doubling, which loses
/// all digits where keys are alike.
__device__ inline void invert(UnitLower& of) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  if (thread < UnitLower::size) {
    const int b = thread / UnitLower::block;
    const int column = thread % UnitLower::block;
    float x[UnitLower::block];
    unrolled<UnitLower::block>([&](int i) {
      x[i] = column == i ? 1.0F : 0.0F;
#pragma unroll
      for (int j = 0; j < i; ++j) x[i] -= of.diagonal[b][i][j] * x[j];
      of.at[b * UnitLower::block + i][thread] = __float2half_rn(x[i]);
    });
  }
  __syncthreads();
  if (warp < 2) unit_lower::merge<16>(of, 32 * warp, 32 * warp + 16);
  __syncthreads();
  if (warp < 2) unit_lower::merge<32>(of, 0, 32 + 16 * warp);
  __syncthreads();
}

/// Writes the inverse with column j multiplied by scale[j], row after row: [64, 64]. All 128 threads call it.
__device__ inline void write(const UnitLower& of, const float* scale, __half* to) {
  for (int i = static_cast<int>(threadIdx.x); i < UnitLower::size * UnitLower::size / 8; i += 128) {
    const int row = i / 8;
    const int column = i % 8 * 8;
    const uint4 numbers = reinterpret_cast<const uint4&>(of.at[row][column]);
    const std::uint32_t pairs[4] = {numbers.x, numbers.y, numbers.z, numbers.w};
    std::uint32_t scaled[4];
    unrolled<4>([&](int p) {
      const float2 both = hopper::unpacked<__half>(pairs[p]);
      scaled[p] = hopper::packed<__half>(both.x * scale[column + 2 * p], both.y * scale[column + 2 * p + 1]);
    });
    reinterpret_cast<uint4*>(to)[i] = make_uint4(scaled[0], scaled[1], scaled[2], scaled[3]);
  }
}

}  // namespace palimpsest
