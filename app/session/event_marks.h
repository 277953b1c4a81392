#pragma once

#include <optional>
#include <string>

#include "app/session/computation.h"

namespace palimpsest {

/// A token at which something happens, and what: "erases and writes strongly, fades more than most".
struct EventMark {
  Index token = 0;
  std::string words;
};

/// What counts as an event, in a sentence.
const char* events_in_words();

/// The nearest marked token after `token`, or before it where `direction` is -1; nothing if there is none.
/// Marked are writes at least as strong as at 19 of 20 tokens and half as strong as the strongest; writes
/// that overshoot; what fades, and what is further off before its write, more than at 19 of 20 tokens; where
/// the memory runs away and why; and the first token at which a form is wrong. Only what is known so far of
/// `computed` counts.
std::optional<EventMark> next_mark(const Computation& computed, Index token, int direction);

}  // namespace palimpsest
