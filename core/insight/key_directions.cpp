#include "core/insight/key_directions.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace palimpsest {

KeyDirections key_directions(const Matrix<double>& keys) {
  Matrix<double> unit = keys;
  for (Index i = 0; i < unit.rows(); ++i) {
    const double length = unit.row(i).stableNorm();
    if (length > 0) unit.row(i) /= length;
  }
  KeyDirections found{Matrix<double>::Zero(keys.rows(), 3), Vector<double>::Zero(3)};
  if (keys.size() == 0) return found;
  // The right singular vectors are the eigenvectors of K^T K, the largest eigenvalue last.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Eigen::MatrixXd(unit.transpose() * unit));
  const double all = unit.squaredNorm();
  const Index channels = keys.cols();
  for (Index i = 0; i < std::min<Index>(3, channels); ++i) {
    found.points.col(i) = unit * solver.eigenvectors().col(channels - 1 - i);
    if (all > 0) found.explained[i] = std::max(solver.eigenvalues()[channels - 1 - i], 0.0) / all;
  }
  return found;
}

}  // namespace palimpsest
