#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/matrix.h"

namespace palimpsest {

/// Linear interpolation between `from` and `to`, both [R, C]: exactly these at part 0 and 1.
inline Matrix<double> between(const Matrix<double>& from, const Matrix<double>& to, double part) {
  return (1 - part) * from + part * to;
}

/// How strongly to draw a decay factor, from 0 (nothing decays) to 1 (all is lost): linear in the logarithm
/// of 1 - kept, from 1e-4 on, so that 0.99 and 0.999 can be told apart. `kept` is clamped to [0, 1].
inline double forgotten_part(double kept) {
  constexpr double decades = 4;
  const double lost = std::clamp(1 - kept, 0.0, 1.0);
  return lost > 0 ? std::max(1 + std::log10(lost) / decades, 0.0) : 0.0;
}

}  // namespace palimpsest
