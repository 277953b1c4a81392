#pragma once

#include <Eigen/Cholesky>
#include <array>
#include <limits>

#include "core/base/record.h"

namespace palimpsest {

/// The singular values of X [L, M], largest first: [min(L, M)]. NaN where X is not finite.
Vector<double> singular_values(const Matrix<double>& X);

/// M^{-1} X for a symmetric positive definite M, by Cholesky without square roots: it stays finite where M is
/// not quite definite because of rounding. NaN where M has one, which Eigen's pivots would make 0.
template <class Scalar, class Right>
typename Right::PlainObject solved_symmetric(const Matrix<Scalar>& M, const Eigen::MatrixBase<Right>& X) {
  if (M.hasNaN())
    return Right::PlainObject::Constant(X.rows(), X.cols(), std::numeric_limits<Scalar>::quiet_NaN());
  return M.ldlt().solve(X);
}

/// X <- a X + (b B + c B^2) X with B = X X^T: every singular value s becomes a s + b s^3 + c s^5.
struct NewtonSchulzStep {
  double a;
  double b;
  double c;
};

using NewtonSchulz = std::array<NewtonSchulzStep, 5>;

/// "muon": the same coefficients five times (Jordan et al., Muon, 2024). "tuned": one triple per step, from
/// the language-model code of LaCT (lact_llm/lact_model/ttt_operation.py).
const NewtonSchulz& newton_schulz_steps(std::string_view name);

/// Added to the norm by which the start matrix is divided.
inline constexpr double newton_schulz_eps = 1e-7;

/// M [K, V] with its singular values brought near 1, spec 3.11. It does not converge to 1: divided by the
/// norm, values s end in (the extremes of the polynomial above, five times, found numerically)
///   s in          muon             tuned
///   [0.01, 1]     [0.681, 1.135]   [0.977, 1.032]
///   [0.001, 1]    [0.470, 1.203]   [0.474, 1.146]
/// and smaller ones are multiplied by at most 485 (muon) or 493 (tuned), the product of all a. M = 0 stays 0.
template <class Scalar>
Matrix<Scalar> newton_schulz(const Matrix<Scalar>& M, const NewtonSchulz& steps,
                             Recorder* recorder = nullptr);

/// Relative residuals of conjugate gradients (Hestenes & Stiefel 1952), started at 0, for A x = b with A
/// [K, K] symmetric and positive definite: ‖b - A x_i‖ / ‖b‖ for i = 0, 1, ... [1, 1 + steps]. They end after
/// `most` steps, or when the residual is below 1e-12. All are 0 for b = 0.
Matrix<double> conjugate_gradient_rests(const Matrix<double>& A, const Vector<double>& b, Index most);

}  // namespace palimpsest
