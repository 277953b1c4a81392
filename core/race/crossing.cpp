#include "core/race/crossing.h"

#include <cmath>

namespace palimpsest {

namespace {

/// Both curves at a length that they share.
struct SharedLength {
  double tokens;  // logarithms
  double first;   // of the median
  double second;  // of the median
  int ahead;      // 1 the first curve, -1 the second, 0 neither
  double lead() const { return second - first; }
};

std::vector<SharedLength> shared_lengths(const std::vector<TimedLength>& first,
                                         const std::vector<TimedLength>& second) {
  std::vector<SharedLength> pairs;
  auto other = second.begin();
  for (const TimedLength& one : first) {
    while (other != second.end() && other->tokens < one.tokens) ++other;
    if (other == second.end()) break;
    if (other->tokens != one.tokens) continue;
    const int ahead = one.seconds.below(other->seconds) ? 1 : other->seconds.below(one.seconds) ? -1 : 0;
    pairs.push_back(
        {std::log(one.tokens), std::log(one.seconds.median), std::log(other->seconds.median), ahead});
  }
  return pairs;
}

/// The last place between `from` and `to` where the medians change their order, for the curve that is ahead
/// at `to`.
Crossing between(const std::vector<SharedLength>& pairs, std::size_t from, std::size_t to) {
  const int ahead = pairs[to].ahead;
  std::size_t before = to - 1;
  while (before > from && pairs[before].lead() * ahead > 0) --before;
  const SharedLength& left = pairs[before];
  const SharedLength& right = pairs[before + 1];
  const double part = left.lead() / (left.lead() - right.lead());
  return {.tokens = std::exp(std::lerp(left.tokens, right.tokens, part)),
          .seconds = std::exp(std::lerp(left.first, right.first, part)),
          .first_is_faster = ahead > 0};
}

}  // namespace

std::vector<Crossing> crossings(const std::vector<TimedLength>& first,
                                const std::vector<TimedLength>& second) {
  const std::vector<SharedLength> pairs = shared_lengths(first, second);
  std::vector<Crossing> found;
  std::size_t last = pairs.size();  // where a curve was ahead
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].ahead == 0) continue;
    if (last < pairs.size() && pairs[last].ahead != pairs[i].ahead) found.push_back(between(pairs, last, i));
    last = i;
  }
  return found;
}

}  // namespace palimpsest
