#pragma once

#include <cmath>
#include <limits>

namespace palimpsest {

/// After how many tokens half is left where each keeps `kept`: log(1/2) / log kept; infinite where nothing
/// fades, 0 where all goes.
inline double half_life(double kept) {
  if (kept <= 0) return 0;
  if (kept >= 1) return std::numeric_limits<double>::infinity();
  return std::log(0.5) / std::log(kept);
}

/// What keeps half for `tokens` >= 0.
inline double kept_for(double tokens) { return tokens > 0 ? std::exp2(-1 / tokens) : 0; }

}  // namespace palimpsest
