#pragma once

#include <span>

#include "core/base/matrix.h"

namespace palimpsest {

/// Rows of a sub-chunk: inside it, scores with a decay per channel are computed pair by pair; between
/// sub-chunks they are matrix products.
inline constexpr Index sub_chunk_size = 16;

/// A table of decays shifted down by one row: row i is row i - 1 of `table`, row 0 is `first` everywhere.
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

/// [L, p K]: row i of X repeated for every part, times the weight of that part. X: [L, K], weights: [L, p].
template <class Scalar>
Matrix<Scalar> spread(const Matrix<Scalar>& weights, const Matrix<Scalar>& X) {
  const Index K = X.cols();
  Matrix<Scalar> wide(X.rows(), weights.cols() * K);
  for (Index i = 0; i < weights.cols(); ++i)
    wide.middleCols(i * K, K) = (X.array().colwise() * weights.col(i).array()).matrix();
  return wide;
}

/// P U where reader s sees the first seen[s] rows of U, so that P is 0 in the others: [R, V]. A row beyond
/// them that is no longer finite stays out, as it does in the recurrence: 0 times NaN is NaN.
template <class Scalar>
Matrix<Scalar> seen_sum(const Matrix<Scalar>& P, const Matrix<Scalar>& U, std::span<const Index> seen) {
  if (U.allFinite()) return P * U;
  Matrix<Scalar> sum(P.rows(), U.cols());
  for (Index s = 0; s < P.rows(); ++s) {
    const Index rows = entry(seen, s);
    sum.row(s).noalias() = P.row(s).head(rows) * U.topRows(rows);
  }
  return sum;
}

}  // namespace palimpsest
