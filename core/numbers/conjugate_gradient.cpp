#include "core/numbers/conjugate_gradient.h"

#include <vector>

namespace palimpsest {

Matrix<double> conjugate_gradient_rests(const Matrix<double>& A, const Vector<double>& b, Index most) {
  constexpr double enough = 1e-12;
  const double length = b.norm();
  if (length == 0) return Matrix<double>::Zero(1, 1);
  Vector<double> rest = b;
  Vector<double> direction = rest;
  double square = rest.squaredNorm();
  std::vector<double> rests = {1};
  for (Index step = 0; step < most && rests.back() > enough; ++step) {
    const Vector<double> moved = A * direction;
    rest -= square / direction.dot(moved) * moved;
    const double next = rest.squaredNorm();
    rests.push_back(std::sqrt(next) / length);
    direction = rest + next / square * direction;
    square = next;
  }
  return Eigen::Map<const Matrix<double>>(rests.data(), 1, static_cast<Index>(rests.size()));
}

}  // namespace palimpsest
