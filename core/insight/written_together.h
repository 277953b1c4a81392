#pragma once

#include <optional>

#include "core/contract/variant.h"

namespace palimpsest {

/// Tokens that make one step together, which is taken after the last of them.
struct WrittenTogether {
  Index first = 0;
  Index last = 0;
};

/// Those that `token` is written with; nothing where it is written by itself, as by all rules but LaCT.
/// Throws InputError for a token that there is not.
std::optional<WrittenTogether> written_together(const Variant& variant, const Sequence& sequence,
                                                Index token);

/// The tokens of a batch whose step waits for the last of them; 1 where none waits.
Index tokens_per_step(const Variant& variant, const Sequence& sequence);

/// How many of the first `tokens` tokens are in the memory, if so many make one step: all but those of a
/// batch that has not ended. The last batch ends with the sequence.
Index tokens_written(const Sequence& sequence, Index tokens_per_step, Index tokens);

}  // namespace palimpsest
