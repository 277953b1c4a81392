#pragma once

#include <optional>

#include "app/session/learn_answers.h"

namespace palimpsest {

/// beta |k|^2 of a token's write: it overshoots above 1, and above 2 by more than it had missed. Nothing
/// where another number decides that: without an erase by beta, with a key p of its own to ask with, with
/// several steps per token. Walks through the states up to the token.
std::optional<double> write_reach(const Foundation& foundation, const Trace& trace, Index token);

/// Whether the trace subtracts what is there now, by beta: then beta |k|^2 decides how far a write goes.
bool erases_by_beta(const Trace& trace);

/// The reach of one write of a form: an answer.
struct WriteReach : OfFoundation {
  using Value = std::optional<double>;

  Form form = Form::recurrent;
  Index token = 0;

  bool operator<(const WriteReach& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value&) { return sizeof(Value); }
};

}  // namespace palimpsest
