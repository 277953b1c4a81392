#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/learn_answers.h"

namespace palimpsest {

/// How well every token is remembered.
struct RecallOfTokens : OfFoundation {
  using Value = TokenRecalls;

  bool operator<(const RecallOfTokens& other) const { return is_before(other).value_or(false); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& recalls) { return recalls.tokens.size() * sizeof(Recall); }
};

/// Where the memory runs away.
struct RunawayMemory : OfFoundation {
  using Value = std::optional<Divergence>;

  bool operator<(const RunawayMemory& other) const { return is_before(other).value_or(false); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value&) { return sizeof(Value); }
};

/// Asks for what a computation still lacks, and adds what is there: every form compared, the recall of the
/// tokens, where the memory runs away. Until then what the last choice for the same data had stands. Returns
/// whether something was added; `problem` says what could not be computed.
bool complete(const std::shared_ptr<Computation>& computation, Answers& answers, std::string& problem);

}  // namespace palimpsest
