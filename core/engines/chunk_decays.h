#pragma once

#include <span>

#include "core/base/matrix.h"
#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

/// Rows whose scores are made pair by pair where every channel has a decay of its own; between such
/// sub-chunks they are matrix products.
inline constexpr Index sub_chunk_size = 16;

/// The decays inside one chunk of L rows, spec 2.1: only running products (or, with log gates, running sums),
/// so exact zeros are legal and nothing overflows. A reader sees the state after so many decays and writes.
template <class Scalar>
class ChunkDecay {
 public:
  ChunkDecay(const Structure& structure, const Matrix<Scalar>& gate);

  /// [L, L]: alpha_{j+1:i} for j <= i, 0 above: what is left of write j after row i. Scalar decay only.
  const Matrix<Scalar>& mask() const { return mask_; }

  /// alpha_{1:i}: [L, 1] or [L, K].
  const Matrix<Scalar>& cumulative() const { return cumulative_; }

  /// alpha_{j+1:L}: [L, 1] or [L, K].
  const Matrix<Scalar>& remaining() const { return remaining_; }

  /// Scores Z_sj = sum_d X_sd Y_jd alpha_{j+1:decays(s),d} for the writes j that reader s sees, else 0.
  /// X: [R, K], Y: [L, K]; [R, L].
  Matrix<Scalar> scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                        const Matrix<Scalar>& Y) const;

  /// Row s decayed from the chunk's start to its reader: alpha_{1:decays(s)} o X_s. X: [R, K].
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, std::span<const Reader> readers) const;

  /// Row j decayed from its write to the chunk's end: alpha_{j+1:L} o Y_j. Y: [L, K].
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const;

  /// The state decayed over the whole chunk: alpha_{1:L} o S. S: [K, V].
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const;

 private:
  Matrix<Scalar> key_scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                            const Matrix<Scalar>& Y) const;

  Structure structure_;
  Matrix<Scalar> gate_;
  Matrix<Scalar> mask_;
  Matrix<Scalar> cumulative_;
  Matrix<Scalar> remaining_;
};

/// What a table of decays was one row earlier: row i is row i - 1 of `table`, row 0 is `first` everywhere.
template <class Scalar>
Matrix<Scalar> one_row_earlier(const Matrix<Scalar>& table, Scalar first) {
  Matrix<Scalar> earlier = Matrix<Scalar>::Constant(table.rows(), table.cols(), first);
  if (table.rows() > 1) earlier.bottomRows(table.rows() - 1) = table.topRows(table.rows() - 1);
  return earlier;
}

/// The sum of sight_i times part i of a state [p K, V]: [K, V].
template <class Scalar>
Matrix<Scalar> seen(const Matrix<Scalar>& S, const Matrix<Scalar>& sight) {
  const Index p = sight.size();
  const Index K = S.rows() / p;
  Matrix<Scalar> sum = Matrix<Scalar>::Zero(K, S.cols());
  for (Index i = 0; i < p; ++i) sum += sight(i) * S.middleRows(i * K, K);
  return sum;
}

/// (T x I) S: part i becomes sum_j T_ij part j. S: [p K, V], T: [p, p].
template <class Scalar>
Matrix<Scalar> mixed(const Matrix<Scalar>& T, const Matrix<Scalar>& S) {
  const Index p = T.rows();
  const Index K = S.rows() / p;
  Matrix<Scalar> result(S.rows(), S.cols());
  for (Index i = 0; i < p; ++i) result.middleRows(i * K, K) = seen<Scalar>(S, T.row(i));
  return result;
}

/// [L, p K]: row i of X once for every part, times the weight of that part. X: [L, K], weights: [L, p].
template <class Scalar>
Matrix<Scalar> spread(const Matrix<Scalar>& weights, const Matrix<Scalar>& X) {
  const Index K = X.cols();
  Matrix<Scalar> wide(X.rows(), weights.cols() * K);
  for (Index i = 0; i < weights.cols(); ++i)
    wide.middleCols(i * K, K) = (X.array().colwise() * weights.col(i).array()).matrix();
  return wide;
}

/// What ChunkDecay is for one state, for a state in parts (spec 1.1 eq. U', 3.9): how a write of one chunk of
/// L rows reaches a later reader through the transitions between them. Running products of [p, p] matrices
/// only.
template <class Scalar>
class ChunkParts {
 public:
  explicit ChunkParts(const Program<Scalar>& program);

  /// [R, L]: h_s^T T_{decays(s)} .. T_{j+2} c_j, the weight of write j for reader s; 0 where it is not seen.
  Matrix<Scalar> mask(std::span<const Reader> readers) const;

  /// [R, p]: h_s^T T_{decays(s)} .. T_1, the weight of every part carried in.
  Matrix<Scalar> weights_from_start(std::span<const Reader> readers) const;

  /// [L, p]: T_L .. T_{j+2} c_j, where write j ends up.
  const Matrix<Scalar>& weights_to_end() const { return to_end_; }

  /// [p, p]: T_L .. T_1.
  const Matrix<Scalar>& total() const { return from_start_.back(); }

  /// As ChunkDecay's. Vectors are spread over the parts: [R, p K], so that they meet the whole state.
  Matrix<Scalar> scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                        const Matrix<Scalar>& Y) const;
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, std::span<const Reader> readers) const;
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const { return spread(to_end_, Y); }
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const { return mixed(total(), S); }

 private:
  std::vector<Matrix<Scalar>> since_write_;  // [L + 1] of [L, p]: T_i .. T_{j+2} c_j after i rows
  std::vector<Matrix<Scalar>> from_start_;   // [L + 1] of [p, p]: T_i .. T_1
  Matrix<Scalar> to_end_;
};

/// Decays of the value channels inside one chunk of L rows, spec 2.5: every channel has its own mask, so what
/// was written is faded row after row by running products; nothing is divided. Without value decay every
/// function gives back what it gets.
template <class Scalar>
class ChunkValueDecay {
 public:
  ChunkValueDecay(const Structure& structure, const Matrix<Scalar>& mu);

  /// mu_{1:i} o X_s for the reads X [R, V] of the carried state; read s comes after i = after[s] rows.
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, std::span<const Index> after) const;

  /// Row j faded from its write to the chunk's end: mu_{j+1:L} o U_j. U: [L, V].
  Matrix<Scalar> to_end(const Matrix<Scalar>& U) const;

  /// The state faded over the whole chunk: S Diag(mu_{1:L}). S: [K, V].
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const;

  /// U_i = R_i - sum_{j<i} N_ij (mu_{j+1:i} o U_j). N: [L, L], R: [L, V].
  Matrix<Scalar> solve(const Matrix<Scalar>& N, const Matrix<Scalar>& R) const;

  /// O_s = sum_{j<=i} P_sj (mu_{j+1:i} o U_j), i = after[s]. P: [R, L], U: [L, V].
  Matrix<Scalar> read(const Matrix<Scalar>& P, const Matrix<Scalar>& U, std::span<const Index> after) const;

  /// Hands mu_{1:i}, mu_{j+1:L} and mu_{1:L} to a trace; mu_{1:i-1} too where outputs read before their row.
  void record(bool reads_before, Recorder& record) const;

 private:
  bool exists_;
  Matrix<Scalar> mu_;
  Matrix<Scalar> cumulative_;
  Matrix<Scalar> remaining_;
};

/// P U where reader s sees the first seen[s] rows of U, so that P is 0 in the others: [R, V]. A row beyond
/// them that is no longer finite stays out, as it does in the recurrence: 0 times NaN is NaN.
template <class Scalar>
Matrix<Scalar> seen_sum(const Matrix<Scalar>& P, const Matrix<Scalar>& U, std::span<const Index> seen) {
  if (U.allFinite()) return P * U;
  Matrix<Scalar> sum(P.rows(), U.cols());
  for (Index s = 0; s < P.rows(); ++s) {
    const Index rows = seen[static_cast<std::size_t>(s)];
    sum.row(s).noalias() = P.row(s).head(rows) * U.topRows(rows);
  }
  return sum;
}

}  // namespace palimpsest
