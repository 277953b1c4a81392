#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/matrix.h"

namespace palimpsest {

/// On the straight way from `from` to `to`, both [R, C]: exactly these at part 0 and 1.
inline Matrix<double> between(const Matrix<double>& from, const Matrix<double>& to, double part) {
  return (1 - part) * from + part * to;
}

/// How much is lost of what is kept: 0 for all but a ten-thousandth and less, 1 for everything, and in
/// between by the power of ten of 1 - kept. So nothing is seen where all is kept, and 0.99 can be told from
/// 0.999.
inline Matrix<double> lost_by_powers(const Matrix<double>& kept) {
  constexpr double powers = 4;
  return kept.unaryExpr([](double factor) {
    const double lost = std::clamp(1 - factor, 0.0, 1.0);
    return lost > 0 ? std::max(1 + std::log10(lost) / powers, 0.0) : 0.0;
  });
}

}  // namespace palimpsest
