#pragma once

#include <string>

#include "app/session/computation.h"
#include "core/insight/keeping.h"
#include "core/insight/stability.h"

namespace palimpsest {

// What the bars of Learn's floor say at a token: the word, what the bar is, and its value.

/// "“drum” (42)\nβ‖k‖² = 0.856: how far it steps …\nβ = 0.856".
std::string strength_bar_words(const Computation& computed, const StepReach& strengths, Index token);

/// The symbol of what a rule keeps: "α", "γ", "μ", and "f" for the share that goes.
const char* gate_letter(const Computation& computed, const Keeping& keeping);

/// "“drum” (42)\nα = 0.9993: half-life 954 words", of all channels together or of `channel`.
std::string keeping_bar_words(const Computation& computed, const Keeping& keeping, Index channel,
                              Index token);

/// "“drum” (42)\nlength of the error: 0.869 before its write, 0.13 after"; nothing where it is not known.
std::string error_bar_words(const Computation& computed, Index token);

/// "“drum” (42)\nthe numbers of S after it: 0.0545 (root mean square)"; nothing where it is not known.
std::string growth_bar_words(const Computation& computed, Index token);

}  // namespace palimpsest
