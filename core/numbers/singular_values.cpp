#include "core/numbers/singular_values.h"

#include <Eigen/SVD>

namespace palimpsest {

Vector<double> singular_values(const Matrix<double>& X) {
  if (X.size() == 0) return Vector<double>();  // Eigen expects at least one row and column
  return Eigen::BDCSVD<Matrix<double>>(X).singularValues();
}

}  // namespace palimpsest
