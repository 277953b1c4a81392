#pragma once

#include <span>

#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

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

}  // namespace palimpsest
