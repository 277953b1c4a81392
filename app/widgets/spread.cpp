#include "app/widgets/spread.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace palimpsest {

namespace {

/// Labels that touch and move together.
struct Touching {
  std::vector<std::size_t> labels;
  float wishes = 0;  // the sum of where each would have the first of them
  float height = 0;
  float top = 0;

  void place(float least, float most) {
    const float mean = wishes / static_cast<float>(labels.size());
    top = std::max(std::min(mean, most - height), least);
  }
};

}  // namespace

std::vector<float> spread(const std::vector<WantedLabel>& wanted, float top, float bottom) {
  std::size_t count = 0;
  for (float height = 0; count < wanted.size(); ++count) {
    height += wanted[count].height;
    if (height > bottom - top) break;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i].top; });
  std::vector<Touching> groups;
  for (const std::size_t i : order) {
    groups.push_back({.labels = {i}, .wishes = wanted[i].top, .height = wanted[i].height});
    groups.back().place(top, bottom);
    while (groups.size() > 1) {
      Touching& above = groups[groups.size() - 2];
      const Touching& below = groups.back();
      if (above.top + above.height <= below.top) break;
      above.wishes += below.wishes - above.height * static_cast<float>(below.labels.size());
      above.labels.insert(above.labels.end(), below.labels.begin(), below.labels.end());
      above.height += below.height;
      above.place(top, bottom);
      groups.pop_back();
    }
  }
  std::vector<float> tops(count);
  for (const Touching& group : groups) {
    float at = group.top;
    for (const std::size_t i : group.labels) {
      tops[i] = at;
      at += wanted[i].height;
    }
  }
  return tops;
}

}  // namespace palimpsest
