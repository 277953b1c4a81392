#pragma once

#include <span>

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

}  // namespace palimpsest
