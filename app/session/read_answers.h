#pragma once

#include "app/session/learn_answers.h"
#include "core/insight/written_together.h"

namespace palimpsest {

class Session;

/// What a token's query gets before and after the token's own write: an answer.
struct ReadNow : OfFoundation {
  using Value = ReadMoments;

  Index token = 0;

  bool operator<(const ReadNow& other) const { return is_before(other).value_or(token < other.token); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& read);
};

/// Whether the option says when outputs read the memory (core/rules/read_order.h).
bool is_read_option(const Option& option);

/// Whether outputs read the memory before their own update (core/rules/read_order.h).
bool is_read_before(const Settings& settings);

/// Why the outputs of a computation can read one memory only; empty where choose_read() has an effect.
std::string no_read_choice(const Foundation& foundation);

/// Lets the session's rule read before its own update, or after it: a setting of the rule as any other.
void choose_read(Session& session, bool before);

/// Which memory the outputs of a computation read, or why there is but one that they can, in a sentence;
/// `read` of the token at the cursor, null while it is not known.
std::string reading_in_words(const Foundation& foundation, const ReadMoments* read);

}  // namespace palimpsest
