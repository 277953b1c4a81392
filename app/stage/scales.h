#pragma once

#include "app/session/computation.h"

namespace palimpsest {

/// The magnitude with the strongest colour for tensors of one kind, so that a colour means the same at every
/// token: what all but a few of its numbers in the sequence stay below (a lone outlier must not turn the rest
/// into blank paper). 0 where a kind has no scale of its own, and for a memory that runs away: then each
/// picture takes its largest number.
double kind_range(const Computation& computation, Role role);

}  // namespace palimpsest
