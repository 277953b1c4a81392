#pragma once

#include "core/numbers/products.h"
#include "kernels/cpu/gelu.h"
#include "kernels/cpu/matrix_product.h"

namespace palimpsest::cpu {

/// The functions of EigenProducts in vector instructions.
struct VectorProducts {
  template <class Left, class Right>
  static Matrix<float> product(const Left& A, const Right& B) {
    return product_of(A, B, Part::all);
  }

  template <class Left, class Right>
  static Matrix<float> symmetric_product(const Left& A, const Right& B) {
    Matrix<float> C = product_of(A, B, Part::lower);
    C.triangularView<Eigen::StrictlyUpper>() = C.transpose();
    return C;
  }

  template <class Left, class Right>
  static void add_product(Matrix<float>& C, const Left& A, const Right& B) {
    multiply(A, B, C, 1, Part::all);
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

 private:
  static Factor factor(const Matrix<float>& A) { return {A.data(), A.cols(), false}; }
  template <class Of>
  static Factor factor(const Eigen::Transpose<Of>& A) {
    const Matrix<float>& of = A.nestedExpression();
    return {of.data(), of.cols(), true};
  }

  template <class Left, class Right>
  static void multiply(const Left& A, const Right& B, Matrix<float>& C, float keep, Part part) {
    cpu::multiply({.M = A.rows(),
                   .N = B.cols(),
                   .K = A.cols(),
                   .A = factor(A),
                   .B = factor(B),
                   .C = C.data(),
                   .stride = C.cols(),
                   .keep = keep,
                   .part = part});
  }

  template <class Left, class Right>
  static Matrix<float> product_of(const Left& A, const Right& B, Part part) {
    Matrix<float> C(A.rows(), B.cols());
    multiply(A, B, C, 0, part);
    return C;
  }
};

}  // namespace palimpsest::cpu
