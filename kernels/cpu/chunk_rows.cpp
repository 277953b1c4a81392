// The chunkwise form on the processor, spec 2.3, for rows with no decay or one for all channels and no erase
// or one by k. With alpha_{j+1:i} the product of the decays of rows j + 1 .. i of a chunk,
//
//   N_ij = alpha_{j+1:i} beta_j k_i . k_j  (j < i),    P_ij = alpha_{j+1:i} beta_j q_i . k_j  (j <= i)
//   (I + N) U = V - (alpha_{1:i} o K) S,    O = (alpha_{1:i} o Q) S + P U,
//   S <- alpha_{1:L} S + (alpha_{j+1:L} beta_j o K)^T U
//
// The equations of core's engine with products in vector instructions (vector_products.h) reach about 0.6 of
// the speed of this: there numbers that are no products, 4 at a time and in memory of their own, take half of
// the time. Here
//
//   1. All tables of a chunk have one place, from chunk to chunk. Rows are read where the caller has them.
//   2. Decays multiply rows as they are copied, or the scores; S is decayed by the product that writes to it.
//   3. Of N, P and P U only what is not above the diagonal is computed, in blocks of 16.
//   4. Decays between two rows are running sums of logarithms, or running products: no exponent is above
//      those that are given, and nothing is divided.

#include "kernels/cpu/chunk_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel_for.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/matrix_product.h"
#include "kernels/cpu/unit_lower.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/chunk_rows.cpp"
#include <hwy/foreach_target.h>
// Everything from here on is compiled for every target.
#include "kernels/cpu/vectors-inl.h"

#ifndef PALIMPSEST_CHUNK_ROWS
#define PALIMPSEST_CHUNK_ROWS

namespace palimpsest::cpu {

namespace {

/// Scores of a chunk of L rows, and what they are multiplied with.
struct Scores {
  Index L;
  Index pitch;        // from row to row, a multiple of the widest vector
  bool are_logs;      // of the gates
  const float* gate;  // [L]; null: no decay
  const float* beta;  // [pitch]
  float* between;     // [pitch], room for the decays from every row to the present one
  float* N;           // [L, pitch]
  float* P;           // [L, pitch]
};

}  // namespace

}  // namespace palimpsest::cpu

#endif

HWY_BEFORE_NAMESPACE();

namespace palimpsest::cpu::HWY_NAMESPACE {

namespace {

constexpr Index line = 64 / sizeof(float);

/// Decays from their logarithms x [count], which has room for whole vectors.
void decays_of_logs(float* x, Index count) {
  constexpr Tag d;
  for (Index i = 0; i < count; i += lanes) hn::StoreU(decay_of_log(hn::LoadU(d, x + i)), d, x + i);
}

/// Row i of `to` [L, columns] is factors_i times row first + i of `from`, whose last row is `last`. The rows
/// of the next chunk are fetched meanwhile.
void scale_rows(const StridedRows& from, Index first, Index L, Index last, Index columns,
                const float* factors, float* to) {
  constexpr Tag d;
  for (Index i = 0; i < L; ++i, to += columns) {
    const float* const row = from.row(first + i);
    const float* const later = from.row(std::min(first + L + i, last));
    for (Index j = 0; j < columns; j += line) __builtin_prefetch(later + j, 0, 2);
    Index j = 0;
    for (; j + lanes <= columns; j += lanes)
      hn::StoreU(hn::Mul(hn::Set(d, factors[i]), hn::LoadU(d, row + j)), d, to + j);
    for (; j < columns; ++j) to[j] = factors[i] * row[j];
  }
}

/// N and P times their decays and beta, 0 above the diagonal.
void fade_scores(const Scores& scores) {
  constexpr Tag d;
  const auto& [L, pitch, are_logs, gate, beta, between, N, P] = scores;
  for (Index i = 0; i < L; ++i) {
    for (Index j = 0; gate && j < i; j += lanes) {
      const Numbers before = hn::Load(d, between + j);
      const Numbers own = hn::Set(d, gate[i]);
      hn::Store(are_logs ? hn::Add(before, own) : hn::Mul(before, own), d, between + j);
    }
    between[i] = gate && are_logs ? 0 : 1;
    for (Index j = 0; j < pitch; j += lanes) {
      const auto is_seen = hn::Lt(hn::Iota(d, static_cast<float>(j)), hn::Set(d, static_cast<float>(i + 1)));
      Numbers weight = hn::Load(d, between + j);
      if (gate && are_logs) weight = decay_of_log(weight);
      weight = hn::Mul(weight, hn::Load(d, beta + j));
      for (float* const table : {N, P}) {
        float* const score = table + i * pitch + j;
        hn::Store(hn::IfThenElseZero(is_seen, hn::Mul(weight, hn::Load(d, score))), d, score);
      }
    }
  }
}

}  // namespace

}  // namespace palimpsest::cpu::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace palimpsest::cpu {

namespace {

HWY_EXPORT(decays_of_logs);
HWY_EXPORT(scale_rows);
HWY_EXPORT(fade_scores);

constexpr Index widest = 16;  // numbers of a vector

/// One head on its way from chunk to chunk.
class Chunks {
 public:
  Chunks(const HeadRows& head, Index chunk_size)
      : head_(head),
        structure_(head.structure),
        pitch_((std::min(chunk_size, head.rows) + widest - 1) / widest * widest),
        room_(zeros(pitch_ * (2 * pitch_ + 3 * head.K + head.V + 6))) {}

  /// Rows first .. first + L.
  void take(Index first, Index L) {
    make_decays(first, L);
    const auto scaled = [&](const StridedRows& rows, const float* factors, Index columns, float* to) {
      HWY_DYNAMIC_DISPATCH(scale_rows)(rows, first, L, head_.rows - 1, columns, factors, to);
      return Factor{to, columns};
    };
    const Index K = head_.K;
    const Index V = head_.V;
    const Factor Q = scaled(head_.q, from_start(), K, table(0));
    const Factor late_K = scaled(head_.k, to_end(), K, table(2));
    make_scores(first, L);
    const Factor U = scaled(head_.v, ones(), V, table(3));
    if (structure_.erase != Erase::none) {
      const Factor A = scaled(head_.k, from_start(), K, table(1));
      multiply({L, V, K, A, {head_.S, V}, table(3), V, 1, -1});
      solve_unit_lower(L, V, N(), pitch_, table(3), V);
    }
    float* const o = head_.o + first * head_.o_stride;
    multiply({L, V, K, Q, {head_.S, V}, o, head_.o_stride});
    multiply_lower({L, V, L, {P(), pitch_}, U, o, head_.o_stride, 1});
    multiply({K, V, L, {late_K.data, K, true}, U, head_.S, V, whole_});
  }

 private:
  float* vector(Index index) { return room_.get() + index * pitch_; }
  float* ones() { return vector(0); }
  float* beta() { return vector(1); }
  float* gate() { return vector(2); }
  float* from_start() { return vector(3); }
  float* to_end() { return vector(4); }
  float* N() { return vector(6); }
  float* P() { return N() + pitch_ * pitch_; }
  /// [L, K], the fourth [L, V].
  float* table(Index index) { return P() + pitch_ * pitch_ + index * pitch_ * head_.K; }

  /// alpha_{1:i}, beta_j alpha_{j+1:L} and alpha_{1:L}, as running sums or products.
  void make_decays(Index first, Index L) {
    const bool fades = structure_.decay != Decay::none;
    const bool sums = fades && structure_.gates_are_logs;
    std::fill_n(ones(), L, 1.0F);
    std::fill_n(from_start(), L, sums ? 0.0F : 1.0F);
    std::fill_n(to_end(), L, sums ? 0.0F : 1.0F);
    for (Index i = 0; i < L; ++i) {
      beta()[i] = structure_.beta ? *head_.beta.row(first + i) : 1;
      if (fades) gate()[i] = *head_.gate.row(first + i);
    }
    const auto both = [sums](float x, float y) { return sums ? x + y : x * y; };
    for (Index i = 0; fades && i < L; ++i) {
      const Index j = L - 1 - i;
      from_start()[i] = i == 0 ? gate()[0] : both(from_start()[i - 1], gate()[i]);
      if (i > 0) to_end()[j] = both(to_end()[j + 1], gate()[j + 1]);
    }
    if (sums) {
      HWY_DYNAMIC_DISPATCH(decays_of_logs)(from_start(), L);
      HWY_DYNAMIC_DISPATCH(decays_of_logs)(to_end(), L);
    }
    whole_ = from_start()[L - 1];
    for (Index i = 0; i < L; ++i) to_end()[i] *= beta()[i];
  }

  void make_scores(Index first, Index L) {
    const auto rows = [&](const StridedRows& of) { return Factor{of.row(first), of.stride}; };
    const Factor K = rows(head_.k);
    const Factor turned = {K.data, K.stride, true};
    if (structure_.erase != Erase::none)
      multiply({L, L, head_.K, K, turned, N(), pitch_, 0, 1, Shape::lower});
    multiply({L, L, head_.K, rows(head_.q), turned, P(), pitch_, 0, 1, Shape::lower});
    HWY_DYNAMIC_DISPATCH(fade_scores)
    ({.L = L,
      .pitch = pitch_,
      .are_logs = structure_.gates_are_logs,
      .gate = structure_.decay == Decay::none ? nullptr : gate(),
      .beta = beta(),
      .between = vector(5),
      .N = N(),
      .P = P()});
  }

  const HeadRows& head_;
  const Structure& structure_;
  Index pitch_;
  Memory room_;
  float whole_ = 1;  // alpha_{1:L}
};

}  // namespace

bool fit_chunks(const Structure& structure) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return decay != Decay::key && !value_decay && erase != Erase::undecayed && !erase_key && writes_value &&
         !plain_write && read_at == ReadAt::after_row && rows_per_read == 1 && parts.empty();
}

void chunk_rows(std::span<const HeadRows> heads, Index chunk_size, unsigned threads,
                const std::stop_token& stop) {
  parallel_for(std::ssize(heads), threads, [&](Index h) {
    const HeadRows& head = entry(heads, h);
    Chunks chunks(head, chunk_size);
    for (Index first = 0; first < head.rows; first += chunk_size) {
      stop_if_asked(stop);
      chunks.take(first, std::min(chunk_size, head.rows - first));
    }
  });
}

}  // namespace palimpsest::cpu

#endif
