#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/computation.h"
#include "app/session/questions.h"

namespace palimpsest {

/// How well every token is remembered.
struct RecallOfTokens {
  using Value = TokenRecalls;

  Weak<Foundation> of = {};
  auto operator<=>(const RecallOfTokens&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Where the memory runs away.
struct RunawayMemory {
  using Value = std::optional<Divergence>;

  Weak<Foundation> of = {};
  auto operator<=>(const RunawayMemory&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Asks for what a computation still lacks, and adds what is there: every form compared, the recall of the
/// tokens, where the memory runs away. Until then what the last choice for the same data had stands. Returns
/// whether something was added; `problem` says what could not be computed.
bool complete(const std::shared_ptr<Computation>& computation, Questions& questions, std::string& problem);

}  // namespace palimpsest
