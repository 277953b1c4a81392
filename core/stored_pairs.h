#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/rule.h"
#include "core/variant.h"

namespace palimpsest {

/// The pairs that tokens first .. first+count-1 leave in the memory of `variant`: Variant::memory, else the
/// keys and values that a row program writes (features of kernelised attention, h pairs per token of
/// DeltaProduct), else k and v. Throws Unsupported where there is no memory, saying why.
StoredPairs stored_pairs(const Variant& variant, const Sequence& sequence, Index first, Index count);

/// What the memory in `states` answers for `keys` [N, K], as o would be for an unscaled q: [N, V]. Throws
/// Unsupported where there is no memory.
Matrix<double> memory_answers(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                              const Matrix<double>& keys);

/// |answer - value| of every pair: [N].
Vector<double> recall_errors(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                             const StoredPairs& pairs);

/// Throws Unsupported with the reason where a rule has no memory to ask.
void require_memory_to_ask(const Variant& variant);

/// The engine's states after `tokens` tokens, in f64. Throws InputError unless 0 <= tokens <= T.
NamedStates states_at(const Variant& variant, const Sequence& sequence, Index tokens,
                      std::stop_token stop = {});

}  // namespace palimpsest
