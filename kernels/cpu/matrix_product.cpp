// Products of small matrices of f32: a few to a few hundred rows and columns, which lie in a cache.
//
// Naively C_ij is a dot product: two loads for each multiply-add, and a sum over the lanes of a vector at the
// end. Here
//
//   1. The lanes of a vector are columns of C. A tile of C, 6 rows and up to 4 vectors, stays in registers
//      while the inner index passes: 4 loads of B and 6 of single numbers of A serve 24 multiply-adds. A is
//      read number by number, so that it may as well be transposed.
//   2. The rows of B are taken 64 at a time, so that what the tiles below each other need of it stays in the
//      first-level cache. Copied into one piece first it would be slower: with 16 rows of C 0.85 of the
//      speed.
//   3. B is copied only where it is transposed, turned 4 x 4 numbers at a time, or where columns fill no
//      whole vector: zeros fill it up, and sizes that are awkward need no loop of their own.
//
// docs/kernels.md has what it reaches.

#include "kernels/cpu/matrix_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matrix_product.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

constexpr Index vectors = has_32_registers ? 4 : 2;
constexpr Index strip = 6;   // rows of a tile
constexpr Index depth = 64;  // rows of a panel

#if HWY_TARGET == HWY_SCALAR
constexpr Index block = 1;

void turn(const float* from, Index, float* to, Index) { *to = *from; }
#else
constexpr Index block = 4;

/// The 4 x 4 numbers at `from`, rows `stride` apart, as columns to `to`, rows `pitch` apart.
HWY_INLINE void turn(const float* from, Index stride, float* to, Index pitch) {
  constexpr hn::FixedTag<float, 4> d;
  constexpr hn::Repartition<double, decltype(d)> pairs;
  const auto pair = [&](auto x) HWY_ATTR { return hn::BitCast(pairs, x); };
  const auto store = [&](auto x, Index row) HWY_ATTR { hn::StoreU(hn::BitCast(d, x), d, to + row * pitch); };
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride);
  const auto r3 = hn::LoadU(d, from + 3 * stride);
  const auto low_01 = pair(hn::InterleaveLower(d, r0, r1));
  const auto low_23 = pair(hn::InterleaveLower(d, r2, r3));
  const auto high_01 = pair(hn::InterleaveUpper(d, r0, r1));
  const auto high_23 = pair(hn::InterleaveUpper(d, r2, r3));
  store(hn::InterleaveLower(pairs, low_01, low_23), 0);
  store(hn::InterleaveUpper(pairs, low_01, low_23), 1);
  store(hn::InterleaveLower(pairs, high_01, high_23), 2);
  store(hn::InterleaveUpper(pairs, high_01, high_23), 3);
}
#endif

/// Rows 0 .. K and columns 0 .. N of B into a panel whose rows are `width` numbers, the rest of them 0.
void fill_panel(const Factor& B, Index K, Index N, Index width, float* panel) {
  constexpr Tag d;
  if (!B.is_transposed) {
    for (Index k = 0; k < K; ++k) {
      const float* const from = B.data + k * B.stride;
      float* const to = panel + k * width;
      Index j = 0;
      for (; j + lanes <= N; j += lanes) hn::Store(hn::LoadU(d, from + j), d, to + j);
      for (; j < N; ++j) to[j] = from[j];
      std::fill(to + N, to + width, 0.0F);
    }
    return;
  }
  const Index whole_k = K / block * block;
  const Index whole_j = N / block * block;
  const auto copy = [&](Index first_k, Index end_k, Index first_j, Index end_j) {
    for (Index k = first_k; k < end_k; ++k) {
      for (Index j = first_j; j < end_j; ++j) panel[k * width + j] = j < N ? B.data[j * B.stride + k] : 0.0F;
    }
  };
  for (Index j = 0; j < whole_j; j += block) {
    for (Index k = 0; k < whole_k; k += block)
      turn(B.data + j * B.stride + k, B.stride, panel + k * width + j, width);
  }
  copy(0, whole_k, whole_j, width);
  copy(whole_k, K, 0, width);
}

/// A product's numbers in one panel: C [.., columns] from the first column of the panel on.
struct Panel {
  const float* numbers;
  Index pitch;  // from row to row
  Index rows;
  Index columns;
  float keep;
  float factor;
};

/// The tile of C at `C`, rows of A from `A` on: `row` and `column` are the steps between its numbers.
template <Index rows, Index n>
HWY_INLINE void take_tile(const Panel& panel, const float* A, Index row, Index column, float* C,
                          Index stride) {
  constexpr Tag d;
  constexpr Index width = n * lanes;
  Numbers sum[rows][n];
#pragma GCC unroll 6
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) sum[r][j] = hn::Zero(d);
  }
  const float* b = panel.numbers;
  for (Index k = 0; k < panel.rows; ++k, b += panel.pitch, A += column) {
    Numbers of_b[n];
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) of_b[j] = hn::LoadU(d, b + j * lanes);
#pragma GCC unroll 6
    for (Index r = 0; r < rows; ++r) {
      const Numbers a = hn::Set(d, A[r * row]);
#pragma GCC unroll 4
      for (Index j = 0; j < n; ++j) sum[r][j] = hn::MulAdd(a, of_b[j], sum[r][j]);
    }
  }
  const Numbers factor = hn::Set(d, panel.factor);
  const Numbers keep = hn::Set(d, panel.keep);
  HWY_ALIGN float cut[width];
  const bool is_cut = panel.columns < width;
#pragma GCC unroll 6
  for (Index r = 0; r < rows; ++r) {
    float* const of_C = C + r * stride;
    float* const to = is_cut ? cut : of_C;
    if (is_cut && panel.keep != 0) std::copy_n(of_C, panel.columns, cut);
#pragma GCC unroll 4
    for (Index j = 0; j < n; ++j) {
      Numbers x = hn::Mul(factor, sum[r][j]);
      if (panel.keep != 0) x = hn::MulAdd(keep, hn::LoadU(d, to + j * lanes), x);
      hn::StoreU(x, d, to + j * lanes);
    }
    if (is_cut) std::copy_n(cut, panel.columns, of_C);
  }
}

/// Rows first .. end of C in one panel, `rows` at a time, then fewer.
template <Index rows, Index n>
void take_rows(const Panel& panel, const Factor& A, Index first, Index end, float* C, Index stride) {
  const Index row = A.is_transposed ? 1 : A.stride;
  const Index column = A.is_transposed ? A.stride : 1;
  for (; first + rows <= end; first += rows)
    take_tile<rows, n>(panel, A.data + first * row, row, column, C + first * stride, stride);
  if constexpr (rows > 1) {
    if (first < end) take_rows<rows - 1, n>(panel, A, first, end, C, stride);
  }
}

/// The columns from `first` on, as wide as n vectors.
template <Index n>
void take_columns(const Product& product, Index first) {
  constexpr Index width = n * lanes;
  HWY_ALIGN float numbers[depth * width];
  const Index count = std::min(width, product.N - first);
  const Index first_row = product.shape == Shape::any ? 0 : std::min(first, product.M);
  Index k = 0;
  do {  // also of nothing, which leaves keep C
    const Index rows = std::min(depth, product.K - k);
    const Factor B = product.B.from(k, first);
    const bool is_copied = B.is_transposed || count < width;
    if (is_copied) fill_panel(B, rows, count, width, numbers);
    const Panel panel = {is_copied ? numbers : B.data,
                         is_copied ? width : B.stride,
                         rows,
                         count,
                         k == 0 ? product.keep : 1,
                         product.factor};
    take_rows<strip, n>(panel, product.A.from(0, k), first_row, product.M, product.C + first, product.stride);
    k += rows;
  } while (k < product.K);
}

template <Index n>
void take_all_columns(const Product& product, Index first) {
  constexpr Index width = n * lanes;
  for (; n == 1 ? first < product.N : first + width <= product.N; first += width)
    take_columns<n>(product, first);
  if constexpr (n > 1) take_all_columns<n / 2>(product, first);
}

/// C above the diagonal from C below it, where blocks of the diagonal are there as a whole.
void mirror(Index size, float* C, Index stride) {
  const Index whole = size / block * block;
  for (Index i = 0; i < whole; i += block) {
    for (Index j = 0; j < i; j += block) turn(C + i * stride + j, stride, C + j * stride + i, stride);
  }
  for (Index i = whole; i < size; ++i) {
    for (Index j = 0; j < i; ++j) C[j * stride + i] = C[i * stride + j];
  }
}

/// Of half a matrix narrow columns leave out more.
void take_product(const Product& product) {
  if (product.shape == Shape::any) return take_all_columns<vectors>(product, 0);
  take_all_columns<1>(product, 0);
  if (product.shape == Shape::symmetric) mirror(product.M, product.C, product.stride);
}

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {
HWY_EXPORT(take_product);
}  // namespace

void multiply(const Product& product) { HWY_DYNAMIC_DISPATCH(take_product)(product); }

void multiply_lower(Product product) {
  constexpr Index block = 16;
  const Index end = product.M;
  for (Index first = 0; first < end; first += block) {
    product.M = std::min(block, end - first);
    product.K = first + product.M;
    multiply(product);
    product.A = product.A.from(product.M, 0);
    product.C += product.M * product.stride;
  }
}

}  // namespace palimpsest::cpu

#endif
