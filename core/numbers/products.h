#pragma once

#include "core/numbers/gelu.h"
#include "core/numbers/layer_norm.h"

namespace palimpsest {

/// The operations that take an engine's time, by Eigen. With another struct of functions by these names the
/// same equations are computed by other instructions.
struct EigenProducts {
  static constexpr bool may_round_otherwise = false;  // than as the equations are written

  /// A B; a factor may be a transposed matrix.
  template <class Left, class Right>
  static auto product(const Left& A, const Right& B) {
    return A * B;
  }

  /// A B where that is known to be symmetric.
  template <class Left, class Right>
  static auto symmetric_product(const Left& A, const Right& B) {
    return A * B;
  }

  /// A B where what is above the diagonal is of no use: finite, whatever it is.
  template <class Left, class Right>
  static auto lower_product(const Left& A, const Right& B) {
    return A * B;
  }

  /// A B - P D of a lower triangular P.
  template <class Scalar>
  static auto difference(const Matrix<Scalar>& A, const Matrix<Scalar>& B, const Matrix<Scalar>& P,
                         const Matrix<Scalar>& D) {
    return A * B - P * D;
  }

  /// C += A B.
  template <class Scalar, class Left, class Right>
  static void add_product(Matrix<Scalar>& C, const Left& A, const Right& B) {
    C += A * B;
  }

  /// x X + A B.
  template <class Scalar>
  static auto sum(Scalar x, const Matrix<Scalar>& X, const Matrix<Scalar>& A, const Matrix<Scalar>& B) {
    return x * X + A * B;
  }

  /// b B + c B^2 of a symmetric B.
  template <class Scalar>
  static auto polynomial(Scalar b, Scalar c, const Matrix<Scalar>& B) {
    return b * B + c * (B * B);
  }

  /// U of (I + N) U = R row by row: U_i = R_i - sum_{j<i} N_ij U_j.
  template <class Scalar>
  static Matrix<Scalar> forward_substitution(const Matrix<Scalar>& N, const Matrix<Scalar>& R) {
    Matrix<Scalar> U = R;
    for (Index i = 1; i < U.rows(); ++i) U.row(i).noalias() -= N.row(i).head(i) * U.topRows(i);
    return U;
  }

  template <class Scalar>
  static Matrix<Scalar> gelu(const Matrix<Scalar>& X) {
    return palimpsest::gelu(X);
  }

  template <class Scalar>
  static Matrix<Scalar> gelu_derivative(const Matrix<Scalar>& X) {
    return palimpsest::gelu_derivative(X);
  }

  template <class Scalar>
  using Standardised = typename LayerNorm<Scalar>::Standardised;

  template <class Scalar>
  static Standardised<Scalar> standardise(const LayerNorm<Scalar>& norm, const Matrix<Scalar>& Y) {
    return norm.standardise(Y);
  }

  template <class Scalar>
  static Matrix<Scalar> stretch(const LayerNorm<Scalar>& norm, const Matrix<Scalar>& X) {
    return norm.stretch(X);
  }

  template <class Scalar>
  static Matrix<Scalar> norm_gradient(const LayerNorm<Scalar>&, const Matrix<Scalar>& delta,
                                      const Standardised<Scalar>& standardised) {
    return LayerNorm<Scalar>::gradient(delta, standardised);
  }
};

}  // namespace palimpsest
