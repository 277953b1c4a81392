#pragma once

#include "core/program.h"

namespace palimpsest {

/// The decays inside one chunk of L rows, spec 2.1: only running products (or, with log gates, running sums),
/// so exact zeros are legal and nothing overflows. Row i of a table is the state after write i, column j the
/// write of row j.
template <class Scalar>
class ChunkDecay {
 public:
  ChunkDecay(const Structure& structure, const Matrix<Scalar>& gate);

  /// [L, L]: alpha_{j+1:i} for j <= i, 0 above. Scalar decay only.
  const Matrix<Scalar>& mask() const { return mask_; }

  /// alpha_{1:i}: [L, 1] or [L, K].
  const Matrix<Scalar>& cumulative() const { return cumulative_; }

  /// alpha_{j+1:L}: [L, 1] or [L, K].
  const Matrix<Scalar>& remaining() const { return remaining_; }

  /// Scores Z_ij = sum_d X_id Y_jd alpha_{j+1:i,d} for j <= i, else 0. X, Y: [L, K].
  Matrix<Scalar> scores(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const;

  /// Row i decayed from the chunk's start to state i: alpha_{1:i} o X_i. X: [L, K].
  Matrix<Scalar> from_start(const Matrix<Scalar>& X) const;

  /// Row j decayed from its write to the chunk's end: alpha_{j+1:L} o Y_j. Y: [L, K].
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const;

  /// The state decayed over the whole chunk: alpha_{1:L} o S. S: [K, V].
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const;

 private:
  Matrix<Scalar> key_scores(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const;

  Structure structure_;
  Matrix<Scalar> gate_;
  Matrix<Scalar> mask_;
  Matrix<Scalar> cumulative_;
  Matrix<Scalar> remaining_;
};

}  // namespace palimpsest
