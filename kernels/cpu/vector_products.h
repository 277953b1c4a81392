#pragma once

#include "core/numbers/products.h"
#include "kernels/cpu/gelu.h"
#include "kernels/cpu/layer_norm.h"
#include "kernels/cpu/matrix_product.h"
#include "kernels/cpu/unit_lower.h"

namespace palimpsest::cpu {

/// The functions of EigenProducts in vector instructions.
struct VectorProducts {
  static constexpr bool may_round_otherwise = true;

  template <class Left, class Right>
  static Matrix<float> product(const Left& A, const Right& B) {
    return product_of(A, B, Shape::any);
  }

  template <class Left, class Right>
  static Matrix<float> symmetric_product(const Left& A, const Right& B) {
    return product_of(A, B, Shape::symmetric);
  }

  template <class Left, class Right>
  static Matrix<float> lower_product(const Left& A, const Right& B) {
    Matrix<float> C = Matrix<float>::Zero(A.rows(), B.cols());
    multiply(A, B, {.C = C.data(), .stride = C.cols(), .shape = Shape::lower});
    return C;
  }

  static Matrix<float> difference(const Matrix<float>& A, const Matrix<float>& B, const Matrix<float>& P,
                                  const Matrix<float>& D) {
    Matrix<float> X = product(A, B);
    multiply_lower({X.rows(), X.cols(), P.cols(), factor(P), factor(D), X.data(), X.cols(), 1, -1});
    return X;
  }

  template <class Left, class Right>
  static void add_product(Matrix<float>& C, const Left& A, const Right& B, float factor = 1) {
    multiply(A, B, {.C = C.data(), .stride = C.cols(), .keep = 1, .factor = factor});
  }

  static Matrix<float> sum(float x, Matrix<float> X, const Matrix<float>& A, const Matrix<float>& B) {
    multiply(A, B, {.C = X.data(), .stride = X.cols(), .keep = x});
    return X;
  }

  static Matrix<float> polynomial(float b, float c, const Matrix<float>& B) {
    Matrix<float> sum = B;
    multiply(B, B,
             {.C = sum.data(), .stride = sum.cols(), .keep = b, .factor = c, .shape = Shape::symmetric});
    return sum;
  }

  static Matrix<float> forward_substitution(const Matrix<float>& N, const Matrix<float>& R) {
    Matrix<float> U = R;
    solve_unit_lower(U.rows(), U.cols(), N.data(), N.cols(), U.data(), U.cols());
    return U;
  }

  static Matrix<float> gelu(const Matrix<float>& X) {
    Matrix<float> Y(X.rows(), X.cols());
    cpu::gelu(X.data(), X.size(), Y.data());
    return Y;
  }

  static Matrix<float> gelu_derivative(const Matrix<float>& X) {
    Matrix<float> Y(X.rows(), X.cols());
    cpu::gelu_derivative(X.data(), X.size(), Y.data());
    return Y;
  }

  using Norm = LayerNorm<float>;

  static Norm::Standardised standardise(const Norm& norm, const Matrix<float>& Y) {
    Norm::Standardised standardised = {Matrix<float>(Y.rows(), Y.cols()), Vector<float>(Y.rows())};
    cpu::standardise(Y.data(), Y.rows(), Y.cols(), norm.eps, standardised.rows.data(),
                     standardised.deviations.data());
    return standardised;
  }

  static Matrix<float> stretch(const Norm& norm, const Matrix<float>& X) {
    Matrix<float> Y(X.rows(), X.cols());
    cpu::stretch(X.data(), X.rows(), X.cols(), norm.gain.data(), norm.bias.data(), Y.data());
    return Y;
  }

  static Matrix<float> norm_gradient(const Norm&, const Matrix<float>& delta,
                                     const Norm::Standardised& standardised) {
    Matrix<float> G(delta.rows(), delta.cols());
    cpu::norm_gradient(delta.data(), standardised.rows.data(), standardised.deviations.data(), G.rows(),
                       G.cols(), G.data());
    return G;
  }

 private:
  /// Of a matrix itself: an expression would be gone before it is multiplied.
  static Factor factor(const Matrix<float>& A) { return {A.data(), A.cols(), false}; }
  static Factor factor(const Eigen::Transpose<const Matrix<float>>& A) {
    return transposed(A.nestedExpression());
  }
  static Factor factor(const Eigen::Transpose<Matrix<float>>& A) { return transposed(A.nestedExpression()); }
  static Factor transposed(const Matrix<float>& A) { return {A.data(), A.cols(), true}; }

  template <class Left, class Right>
  static void multiply(const Left& A, const Right& B, Product product) {
    product.M = A.rows();
    product.N = B.cols();
    product.K = A.cols();
    product.A = factor(A);
    product.B = factor(B);
    cpu::multiply(product);
  }

  template <class Left, class Right>
  static Matrix<float> product_of(const Left& A, const Right& B, Shape shape) {
    Matrix<float> C(A.rows(), B.cols());
    multiply(A, B, {.C = C.data(), .stride = C.cols(), .shape = shape});
    return C;
  }
};

}  // namespace palimpsest::cpu
