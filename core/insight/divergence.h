#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/contract/variant.h"

namespace palimpsest {

/// Why a state ran away.
enum class Cause {
  overshoots,  // an eigenvalue below -1: beta |k|^2 > 2, every step lands beyond its target by more than it
               // missed
  grows,       // an eigenvalue above 1: the step moves away from its target
  overflow,    // every step is stable, but the numbers left the range of doubles
  together,    // no step by itself: only one after the other
};

struct Divergence {
  Index token = 0;       // the first whose step leaves a state that ran away
  double norm = 0;       // of the weights after it; may be infinite or NaN
  double reachable = 0;  // what stable steps could have added up to
  Cause cause = Cause::together;
  Index cause_token = 0;  // the first token with such a step
  double eigenvalue = 0;  // of that step; its modulus where it is complex
  std::string words = {};
};

/// The first token at which the weights run away: their norm is not finite or exceeds `factor` times what
/// steps with eigenvalues in [-1, 1] could have made of them, the norm at the start plus that of everything
/// written since into an empty memory. Nothing if there is none. Throws InputError unless factor >= 1,
/// Unsupported where the rule keeps no weights, Cancelled. `progress` hears how much of the sequence is
/// looked at, from 0 to 1.
std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence, double factor = 10,
                                     std::stop_token stop = {},
                                     const std::function<void(double)>& progress = {});

}  // namespace palimpsest
