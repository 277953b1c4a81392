#pragma once

#include <vector>

#include "core/race/quartiles.h"

namespace palimpsest {

/// How long something takes at some length.
struct TimedLength {
  double tokens = 0;
  Quartiles seconds = {};
};

/// Where one curve passes another.
struct Crossing {
  double tokens = 0;
  double seconds = 0;
  bool first_is_faster = false;  // from here on
};

/// Where two curves pass each other, from short to long. They are compared at the lengths that both have;
/// in between times are straight lines over the lengths, both as logarithms. A curve is ahead where the
/// middle halves of the times do not overlap; where they do, neither is. Curves that touch do not cross.
/// Both are in ascending order of tokens, with times above 0.
std::vector<Crossing> crossings(const std::vector<TimedLength>& first,
                                const std::vector<TimedLength>& second);

}  // namespace palimpsest
