#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/matrix.h"
#include "tests/catch.h"

namespace palimpsest::testing {

/// The largest size of a finite number in X; 0 if there is none.
inline double largest(const Matrix<double>& X) {
  return X.size() == 0 ? 0 : X.array().isFinite().select(X.array().abs(), 0.0).maxCoeff();
}

/// The largest distance of two numbers in the same place of X and Y: infinite where their shapes differ, or
/// one of two that differ is not finite.
inline double furthest_apart(const Matrix<double>& X, const Matrix<double>& Y) {
  if (X.rows() != Y.rows() || X.cols() != Y.cols()) return infinity;
  double furthest = 0;
  for (Index i = 0; i < X.size(); ++i) {
    const double apart = std::abs(X.data()[i] - Y.data()[i]);
    if (X.data()[i] != Y.data()[i]) furthest = std::max(furthest, std::isfinite(apart) ? apart : infinity);
  }
  return furthest;
}

/// The same as a part of the largest number in Y, where that is above 1.
inline double deviation(const Matrix<double>& X, const Matrix<double>& Y) {
  return furthest_apart(X, Y) / std::max(1.0, largest(Y));
}

/// The same of two lists of numbers.
inline double furthest_apart(const std::vector<double>& x, const std::vector<double>& y) {
  using Row = Eigen::Map<const RowVector<double>>;
  return furthest_apart(Matrix<double>(Row(x.data(), std::ssize(x))),
                        Matrix<double>(Row(y.data(), std::ssize(y))));
}

}  // namespace palimpsest::testing
