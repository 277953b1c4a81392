#pragma once

#include <cmath>

namespace palimpsest {

/// After how many tokens half is left of what every token keeps `kept` of, in [0, 1]: log(1/2) / log kept;
/// infinite where all is kept, 0 where nothing is.
inline double half_life(double kept) { return std::abs(std::log(0.5) / std::log(kept)); }

}  // namespace palimpsest
