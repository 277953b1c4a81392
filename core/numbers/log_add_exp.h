#pragma once

#include <algorithm>
#include <cmath>

namespace palimpsest {

/// log(exp(x) + exp(y)); -inf stands for a sum over nothing.
inline double log_add_exp(double x, double y) {
  const double largest = std::max(x, y);
  if (std::isinf(largest)) return largest;
  return largest + std::log1p(std::exp(-std::abs(x - y)));
}

}  // namespace palimpsest
