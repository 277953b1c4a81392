#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// Layer norm of rows, LN(y) = gain o (y - mean) / sqrt(variance + eps) + bias, spec 3.10.
template <class Scalar>
struct LayerNorm {
  RowVector<Scalar> gain;  // [V]
  RowVector<Scalar> bias;  // [V]
  Scalar eps = 0;

  /// Rows at mean 0 and deviation 1, and the deviations that they had.
  struct Standardised {
    Matrix<Scalar> rows;        // [L, V]
    Vector<Scalar> deviations;  // [L]
  };

  Standardised standardise(const Matrix<Scalar>& Y) const {
    const Matrix<Scalar> centred = Y.colwise() - Y.rowwise().mean();
    const Vector<Scalar> deviations =
        (centred.rowwise().squaredNorm().array() / static_cast<Scalar>(static_cast<double>(Y.cols())) + eps)
            .sqrt();
    return {centred.array().colwise() / deviations.array(), deviations};
  }

  /// gain o X + bias, row by row: [L, V].
  Matrix<Scalar> stretch(const Matrix<Scalar>& X) const {
    return (X.array().rowwise() * gain.array()).rowwise() + bias.array();
  }

  /// LN(Y): [L, V].
  Matrix<Scalar> operator()(const Matrix<Scalar>& Y) const { return stretch(standardise(Y).rows); }

  /// The gradient with respect to Y, from `delta` = gain o (gradient with respect to LN(Y)): shifting or
  /// stretching Y does not change the standardised rows, so the gradient has no such component.
  static Matrix<Scalar> gradient(const Matrix<Scalar>& delta, const Standardised& standardised) {
    const Matrix<Scalar>& h = standardised.rows;
    const Vector<Scalar> along = delta.cwiseProduct(h).rowwise().mean();
    const Matrix<Scalar> level = delta.colwise() - delta.rowwise().mean();
    return (level.array() - h.array().colwise() * along.array()).colwise() / standardised.deviations.array();
  }
};

}  // namespace palimpsest
