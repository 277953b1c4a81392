// (I + N) U = R row after row: U_i = R_i - sum_{j<i} N_ij U_j. What blocks of 16 rows take from the rows
// before them is a product of matrices; only within a block does a row wait for the one before.

#include "kernels/cpu/unit_lower.h"

#include <algorithm>

#include "kernels/cpu/matrix_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/unit_lower.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

constexpr Index vectors = 4;

/// Columns of U as wide as n vectors.
template <Index n>
HWY_INLINE void take_columns(Index rows, const float* N, Index N_stride, float* U, Index U_stride) {
  constexpr Tag d;
  for (Index i = 1; i < rows; ++i) {
    Numbers u[n];
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) u[j] = hn::LoadU(d, U + i * U_stride + j * lanes);
    for (Index k = 0; k < i; ++k) {
      const Numbers factor = hn::Set(d, N[i * N_stride + k]);
#pragma GCC unroll 4
      for (Index j = 0; j < n; ++j)
        u[j] = hn::NegMulAdd(factor, hn::LoadU(d, U + k * U_stride + j * lanes), u[j]);
    }
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) hn::StoreU(u[j], d, U + i * U_stride + j * lanes);
  }
}

/// The last columns, which fill no vector.
void take_rest(Index rows, Index columns, const float* N, Index N_stride, float* U, Index U_stride) {
  HWY_ALIGN float cut[unit_block * lanes] = {};
  for (Index i = 0; i < rows; ++i) std::copy_n(U + i * U_stride, columns, cut + i * lanes);
  take_columns<1>(rows, N, N_stride, cut, lanes);
  for (Index i = 0; i < rows; ++i) std::copy_n(cut + i * lanes, columns, U + i * U_stride);
}

/// A block of at most unit_block rows.
void take_block(Index rows, Index V, const float* N, Index N_stride, float* U, Index U_stride) {
  Index column = 0;
  for (; column + vectors * lanes <= V; column += vectors * lanes)
    take_columns<vectors>(rows, N, N_stride, U + column, U_stride);
  for (; column + lanes <= V; column += lanes) take_columns<1>(rows, N, N_stride, U + column, U_stride);
  if (column < V) take_rest(rows, V - column, N, N_stride, U + column, U_stride);
}

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {
HWY_EXPORT(take_block);
}  // namespace

void solve_unit_lower(Index L, Index V, const float* N, Index N_stride, float* U, Index U_stride) {
  for (Index first = 0; first < L; first += unit_block) {
    const Index rows = std::min(unit_block, L - first);
    const float* const of_N = N + first * N_stride;
    float* const of_U = U + first * U_stride;
    if (first > 0) {
      multiply({.M = rows,
                .N = V,
                .K = first,
                .A = {of_N, N_stride},
                .B = {U, U_stride},
                .C = of_U,
                .stride = U_stride,
                .keep = 1,
                .factor = -1});
    }
    HWY_DYNAMIC_DISPATCH(take_block)(rows, V, of_N + first, N_stride, of_U, U_stride);
  }
}

}  // namespace palimpsest::cpu

#endif
