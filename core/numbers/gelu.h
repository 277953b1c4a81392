#pragma once

#include <cmath>

#include "core/base/matrix.h"
#include "core/numbers/gelu_constants.h"

namespace palimpsest {

/// The argument of tanh.
template <class Scalar>
Scalar gelu_argument(Scalar x) {
  using namespace gelu_constants;
  return static_cast<Scalar>(root) * (x + static_cast<Scalar>(cubic) * x * x * x);
}

template <class Scalar>
Scalar gelu(Scalar x) {
  using std::tanh;  // or that of the scalar
  return Scalar(0.5) * x * (Scalar(1) + tanh(gelu_argument(x)));
}

/// d gelu / dx.
template <class Scalar>
Scalar gelu_derivative(Scalar x) {
  using namespace gelu_constants;
  using std::tanh;
  const Scalar t = tanh(gelu_argument(x));
  const Scalar slope = static_cast<Scalar>(root) * (1 + 3 * static_cast<Scalar>(cubic) * x * x);
  // Far out tanh is exactly 1 or -1, whatever the slope has grown to.
  const Scalar bend = 1 - t * t == 0 ? Scalar(0) : Scalar(0.5) * x * (1 - t * t) * slope;
  return Scalar(0.5) * (1 + t) + bend;
}

/// Element by element.
template <class Scalar>
Matrix<Scalar> gelu(const Matrix<Scalar>& X) {
  return X.unaryExpr([](Scalar x) { return gelu(x); });
}

template <class Scalar>
Matrix<Scalar> gelu_derivative(const Matrix<Scalar>& X) {
  return X.unaryExpr([](Scalar x) { return gelu_derivative(x); });
}

}  // namespace palimpsest
