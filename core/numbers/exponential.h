#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/matrix.h"

namespace palimpsest {

/// exp of every element of an array. Below the smallest normal number it is exactly 0: Eigen's own returns a
/// denormal, even for -inf, so that a decay of exactly 0 would leave a remainder.
template <class Derived>
typename Derived::PlainObject exponential(const Eigen::ArrayBase<Derived>& x) {
  using Scalar = typename Derived::Scalar;
  constexpr auto lowest =
      static_cast<Scalar>(std::is_same_v<Scalar, double> ? -708.39 : -87.33);  // log of min()
  return (x < lowest).select(Scalar(0), x.exp());
}

/// log(exp(x) + exp(y)); -inf stands for a sum over nothing.
inline double log_add_exp(double x, double y) {
  const double largest = std::max(x, y);
  if (std::isinf(largest)) return largest;
  return largest + std::log1p(std::exp(-std::abs(x - y)));
}

}  // namespace palimpsest
