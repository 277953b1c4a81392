#pragma once

#include <span>

#include "core/base/matrix.h"

namespace palimpsest {

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
