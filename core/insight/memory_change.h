#pragma once

#include <stop_token>
#include <string_view>

#include "core/rules/rule.h"

namespace palimpsest {

/// A memory as a part of the recurrence finds it and as it leaves it.
struct MemoryChange {
  NamedStates before;
  NamedStates after;
};

/// What a token does to a memory, or a part of that.
enum class TokenPart {
  all,    // from what the token before left to what this one leaves
  decay,  // what fades, or moves on (momentum); nothing where no step of its own does that
  write,  // the rest
};

/// The memory after `tokens` tokens as `recurrence`, the trace of the recurrent form of `sequence`, computes
/// it; of softmax attention the cache. A rule that gathers a batch and then writes it (LaCT) has the batch in
/// it after its last token. Costs what the record of one block costs, a few tokens from the nearest
/// checkpoint on. Throws InputError unless 0 <= tokens <= T, Cancelled.
NamedStates memory_after(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                         Index tokens, std::stop_token stop = {});

/// What `token` does to it. Throws InputError for a token that there is not, Cancelled.
MemoryChange memory_around(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                           Index token, TokenPart part = TokenPart::all, std::stop_token stop = {});

/// What one block of the recurrence does to it: one of the steps of a token that takes several, or the write
/// of a gathered batch. Throws InputError for a block that there is not, Cancelled.
MemoryChange memory_around_block(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                                 Index block, TokenPart part = TokenPart::all, std::stop_token stop = {});

/// What the place of `cursor` in `trace`, any form of the sequence, does to it: in the recurrent form its
/// block, the decay alone where that is what the step shows, else the rest of the token's change; where a
/// chunk or a batch is carried on, all its tokens; elsewhere the token under the cursor, as the recurrence
/// has it there. Throws InputError for a block that there is not, Cancelled.
MemoryChange memory_at(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                       const Trace& trace, const Cursor& cursor, std::stop_token stop = {});

/// What the change of memory_at() is of: "the decay", "the write", "this token", "this chunk", "this batch".
/// Throws InputError for a block that there is not.
std::string_view changed_by(const Variant& variant, const Sequence& sequence, const Trace& trace,
                            const Cursor& cursor);

}  // namespace palimpsest
