#pragma once

#include <cmath>
#include <optional>

#include "core/base/matrix.h"

namespace palimpsest {

/// The first tokens that step beyond the edges of their losses (StepReach::reach).
struct ReachEdges {
  std::optional<Index> overshoots = {};  // beyond 1: past its word, on the far side
  std::optional<Index> diverges = {};    // beyond 2: farther from its word than it began
};

/// Keys of unit length are so but for the rounding of f32: what is within 1e-6 of an edge is not beyond it.
inline ReachEdges reach_edges(const Vector<double>& reach) {
  constexpr double rounding = 1e-6;
  const auto first_beyond = [&](double edge) -> std::optional<Index> {
    for (Index t = 0; t < reach.size(); ++t) {
      if (!(reach[t] <= edge + rounding)) return t;
    }
    return std::nullopt;
  };
  return {first_beyond(1), first_beyond(2)};
}

}  // namespace palimpsest
