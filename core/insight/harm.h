#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/insight/learning.h"

namespace palimpsest {

/// A pair that was stored earlier, and what a token does to its loss 1/2 |answer - v|^2, fading included.
struct HarmedPair {
  Index token = 0;  // that stored it
  Index step = 0;   // of the several that a token may take
  double before = 0;
  double after = 0;
};

/// The earlier pair whose loss `token` raises most; nothing if it raises none. Throws as write_effect() does.
std::optional<HarmedPair> most_harmed(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop = {});

/// The loss of that pair at the weights problem.at - e G of another token's step, for every e of `rates`: the
/// points that losses_along() asks for the step's own loss. Throws Unsupported where the rule has no memory
/// to ask, InputError for a pair that there is not.
std::vector<double> losses_along(const Variant& variant, const Sequence& sequence, const LearningStep& step,
                                 const HarmedPair& pair, std::span<const double> rates);

}  // namespace palimpsest
