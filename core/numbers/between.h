#pragma once

#include <algorithm>
#include <cmath>

#include "core/base/matrix.h"

namespace palimpsest {

/// On the straight way from `from` to `to`, both [R, C]: exactly these at part 0 and 1.
inline Matrix<double> between(const Matrix<double>& from, const Matrix<double>& to, double part) {
  return (1 - part) * from + part * to;
}

/// How strongly a decay factor shows what it lets fade, from 0 where nothing does to 1 where all goes: even
/// over the logarithm of 1 - kept from 1e-4 on, so that 0.99 and 0.999 can be told apart. Less than 0 and
/// more than 1 count as these.
inline double forgotten_part(double kept) {
  constexpr double decades = 4;
  const double lost = std::clamp(1 - kept, 0.0, 1.0);
  return lost > 0 ? std::max(1 + std::log10(lost) / decades, 0.0) : 0.0;
}

}  // namespace palimpsest
