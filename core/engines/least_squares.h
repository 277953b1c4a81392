#pragma once

#include <stop_token>

#include "core/base/matrix.h"
#include "core/base/record.h"

namespace palimpsest {

/// What the gains of recursive least squares follow from, spec 3.13: no value is needed.
template <class Scalar>
struct LeastSquaresKeys {
  Matrix<Scalar> k;      // [L, K]
  Matrix<Scalar> gamma;  // [L, 1], in (0, 1]
  Matrix<Scalar> beta;   // [L, 1], >= 0
};

/// The inverse of a symmetric positive definite matrix, exactly symmetric.
template <class Scalar>
Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>& R);

/// The gains b_t = beta_t P_t k_t, key by key, after Sherman and Morrison. P [K, K] stays exactly symmetric;
/// it is advanced to the last key. [L, K]. A recorder receives what the last key made.
template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder = nullptr);

/// The same gains, every token for itself: one solve with R_t = gamma_t R_{t-1} + beta_t k_t k_t^T, the
/// inverse of P_t. [L, K]. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                          const std::stop_token& stop = {});

}  // namespace palimpsest
