#include "core/numbers/matrix_functions.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <limits>

#include "core/numbers/newton_schulz.h"

namespace palimpsest {

namespace {

/// The diagonal d and the superdiagonal e of an upper bidiagonal matrix with the singular values of X [M, L],
/// L <= M, one after the other: d_1, e_1, d_2, ... d_L. Householder's reflections from both sides.
Vector<double> bidiagonal(Eigen::MatrixXd X) {
  const Index L = X.cols();
  Vector<double> numbers(2 * L - 1);
  Vector<double> workspace(X.rows());
  double tau = 0;
  for (Index i = 0; i < L; ++i) {
    const Index below = X.rows() - i - 1;
    const Index right = L - i - 1;
    X.col(i).tail(below + 1).makeHouseholderInPlace(tau, numbers(2 * i));
    X.bottomRightCorner(below + 1, right)
        .applyHouseholderOnTheLeft(X.col(i).tail(below), tau, workspace.data());
    if (right == 0) break;
    X.row(i).tail(right).makeHouseholderInPlace(tau, numbers(2 * i + 1));
    X.bottomRightCorner(below, right)
        .applyHouseholderOnTheRight(X.row(i).tail(right - 1).transpose(), tau, workspace.data());
  }
  return numbers;
}

}  // namespace

/// By the tridiagonal matrix of Golub and Kahan, whose eigenvalues are the singular values with both signs.
Vector<double> singular_values(const Matrix<double>& X) {
  const Index L = std::min(X.rows(), X.cols());
  if (L == 0) return Vector<double>();
  if (!X.allFinite()) return Vector<double>::Constant(L, std::numeric_limits<double>::quiet_NaN());
  const double largest = X.cwiseAbs().maxCoeff();
  if (largest == 0) return Vector<double>::Zero(L);
  const Eigen::MatrixXd tall = X.rows() > X.cols() ? Eigen::MatrixXd(X) : Eigen::MatrixXd(X.transpose());
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(Vector<double>::Zero(2 * L), bidiagonal(tall / largest),
                                Eigen::EigenvaluesOnly);
  return largest * solver.eigenvalues().tail(L).reverse().cwiseMax(0);
}

const NewtonSchulz& newton_schulz_steps(std::string_view name) {
  static constexpr NewtonSchulzStep quintic = {3.4445, -4.7750, 2.0315};
  static constexpr NewtonSchulz muon = {quintic, quintic, quintic, quintic, quintic};
  static constexpr NewtonSchulz tuned = {{{4.0848, -6.8946, 2.9270},
                                          {3.9505, -6.3029, 2.6377},
                                          {3.7418, -5.5913, 2.3037},
                                          {2.8769, -3.1427, 1.2046},
                                          {2.8366, -3.0525, 1.2012}}};
  return name == "tuned" ? tuned : muon;
}

template <class Scalar>
Matrix<Scalar> newton_schulz(const Matrix<Scalar>& M, const NewtonSchulz& steps, Recorder* recorder) {
  return newton_schulz_by<EigenProducts>(M, steps, recorder);
}

template Matrix<double> newton_schulz(const Matrix<double>&, const NewtonSchulz&, Recorder*);
template Matrix<float> newton_schulz(const Matrix<float>&, const NewtonSchulz&, Recorder*);

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
