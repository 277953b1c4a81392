#pragma once

#include <vector>

namespace palimpsest {

/// A label beside something: where its upper edge would best be, and its height, in pixels.
struct WantedLabel {
  float top = 0;
  float height = 0;
};

/// The upper edges of labels that lie one below the other between `top` and `bottom` without overlapping, in
/// the order of their wishes, each as near to its wish as all together allow (least squares). Where there is
/// no room for all of them, the last ones of `wanted` get none: the result is shorter.
std::vector<float> spread(const std::vector<WantedLabel>& wanted, float top, float bottom);

}  // namespace palimpsest
