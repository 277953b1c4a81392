#pragma once

#include "app/session/learn_answers.h"
#include "core/insight/read_moments.h"

namespace palimpsest {

/// What a token's query gets before and after the token's own write: an answer.
struct ReadNow : OfFoundation {
  using Value = ReadMoments;

  Index token = 0;

  bool operator<(const ReadNow& other) const { return is_before(other).value_or(token < other.token); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& read);
};

/// Which memory the outputs of a computation read, in a sentence; `read` of the token at the cursor, null
/// while it is not known.
std::string reading_in_words(const Foundation& foundation, const ReadMoments* read);

}  // namespace palimpsest
