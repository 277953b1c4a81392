#include "core/numbers/matrix_functions.h"

#include <fmt/format.h>
#include <Eigen/SVD>

#include <vector>

namespace palimpsest {

Vector<double> singular_values(const Matrix<double>& X) {
  if (X.size() == 0) return Vector<double>();  // Eigen expects at least one row and column
  return Eigen::BDCSVD<Matrix<double>>(X).singularValues();
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
  // B is the smaller of the two Gram matrices.
  const bool is_tall = M.rows() > M.cols();
  const Scalar norm = M.stableNorm();
  Matrix<Scalar> X = (is_tall ? Matrix<Scalar>(M.transpose()) : M) / (norm + Scalar(newton_schulz_eps));
  if (recorder) {
    (*recorder)("norm", static_cast<double>(norm));
    (*recorder)("X_0", X);
  }
  Matrix<double> spectra(X.rows(), recorder ? steps.size() + 1 : 0);
  if (recorder) spectra.col(0) = singular_values(X.template cast<double>());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto [a, b, c] = steps[i];
    const Matrix<Scalar> B = X * X.transpose();
    const Matrix<Scalar> polynomial = Scalar(b) * B + Scalar(c) * (B * B);
    X = Scalar(a) * X + polynomial * X;
    if (!recorder) continue;
    (*recorder)(fmt::format("B_{}", i + 1), B);
    (*recorder)(fmt::format("X_{}", i + 1), X);
    spectra.col(static_cast<Index>(i) + 1) = singular_values(X.template cast<double>());
  }
  if (recorder) (*recorder)("spectra", spectra);
  return is_tall ? Matrix<Scalar>(X.transpose()) : X;
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
