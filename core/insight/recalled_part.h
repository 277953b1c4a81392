#pragma once

#include <algorithm>
#include <cmath>

namespace palimpsest {

/// What a share of a stored value is worth: 1 is right, and what is beyond it is as wrong as what is missing.
struct RecalledPart {
  double right = 0;   // 1 - |1 - share|, at least 0
  double excess = 0;  // beyond 1, or below 0: at most 1
};

/// All is excess where the share is no number.
inline RecalledPart recalled_part(double share) {
  if (!std::isfinite(share)) return {0, 1};
  const double excess = share > 1 ? share - 1 : std::max(-share, 0.0);
  return {std::max(1 - std::abs(1 - share), 0.0), std::min(excess, 1.0)};
}

}  // namespace palimpsest
