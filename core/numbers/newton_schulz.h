#pragma once

#include <fmt/format.h>

#include "core/numbers/matrix_functions.h"
#include "core/numbers/products.h"

namespace palimpsest {

/// newton_schulz() with `Products` (core/numbers/products.h).
template <class Products, class Scalar>
Matrix<Scalar> newton_schulz_by(const Matrix<Scalar>& M, const NewtonSchulz& steps,
                                Recorder* recorder = nullptr) {
  // B is the smaller of the two Gram matrices.
  const bool is_tall = M.rows() > M.cols();
  const Scalar norm = M.stableNorm();
  Matrix<Scalar> X = (is_tall ? Matrix<Scalar>(M.transpose()) : M) / (norm + Scalar(newton_schulz_eps));
  note(recorder, "norm", static_cast<double>(norm));
  note(recorder, "X_0", X);
  Matrix<double> spectra(X.rows(), recorder ? steps.size() + 1 : 0);
  if (recorder) spectra.col(0) = singular_values(X.template cast<double>());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto [a, b, c] = steps[i];
    const Matrix<Scalar> B = Products::symmetric_product(X, X.transpose());
    const Matrix<Scalar> polynomial = Products::polynomial(Scalar(b), Scalar(c), B);
    X = Products::sum(Scalar(a), X, polynomial, X);
    if (!recorder) continue;
    (*recorder)(fmt::format("B_{}", i + 1), B);
    (*recorder)(fmt::format("X_{}", i + 1), X);
    spectra.col(static_cast<Index>(i) + 1) = singular_values(X.template cast<double>());
  }
  note(recorder, "spectra", spectra);
  return is_tall ? Matrix<Scalar>(X.transpose()) : X;
}

}  // namespace palimpsest
