#pragma once

#include <optional>

#include "app/session/computation.h"

namespace palimpsest {

/// The magnitude with the strongest colour for tensors of one kind, so that a colour means the same at every
/// token: what all but a few of its numbers in the sequence stay below (a lone outlier must not turn the rest
/// into blank paper). 0 where a kind has no scale of its own: then each picture takes its largest number.
double kind_range(const Computation& computation, Role role);

/// A memory that grows without bound, because writes overshoot.
struct Divergence {
  Index token = 0;     // the first whose write overshoots
  double product = 0;  // its beta |k|^2, above 2
  double largest = 0;  // the largest number of any memory
};
std::optional<Divergence> divergence(const Computation& computation);

}  // namespace palimpsest
