#pragma once

#include "app/session/learn_questions.h"
#include "core/insight/written_together.h"

namespace palimpsest {

class Session;

/// What a token's query gets before and after the token's own write: a question.
struct ReadNow {
  using Value = ReadMoments;

  Weak<Foundation> of = {};
  Index token = 0;

  auto operator<=>(const ReadNow&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
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
