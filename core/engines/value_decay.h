#pragma once

#include <span>

#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

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

}  // namespace palimpsest
