#pragma once

#include <vector>

namespace palimpsest {

/// Of some durations: the middle one, and between which the middle half lies.
struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;

  bool operator==(const Quartiles&) const = default;

  /// Whether all of the middle half lies below that of `other`.
  bool below(const Quartiles& other) const { return high < other.low; }
};

/// The quartiles of `values`, in between interpolated linearly; zeros of none.
Quartiles quartiles(std::vector<double> values);

}  // namespace palimpsest
