#pragma once

#include <optional>

#include "app/session/computation.h"

namespace palimpsest {

class Application;

/// The sliders that change what goes in: gates, strength, key length, and whatever the variant can be told.
void adjusting(Application& application);

/// beta |k|^2 of a token's write: it overshoots above 1, and above 2 by more than it had missed. Nothing
/// where another number decides that: without an erase by beta, with a key p of its own to ask with, with
/// several steps per token.
std::optional<double> write_reach(const Computation& computed, const Trace& trace, Index token);

}  // namespace palimpsest
