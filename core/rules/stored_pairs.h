#pragma once

#include "core/operator/program.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// The pairs that tokens first .. first+count-1 store in the memory of `variant`: Variant::memory, else the
/// keys and values that a row program writes (features of kernelised attention, h pairs per token of
/// DeltaProduct), else k and v. Throws as require_answers().
StoredPairs stored_pairs(const Variant& variant, const Sequence& sequence, Index first, Index count);

/// What the memory in `states` returns for `keys` [N, K], as o would be for an unscaled q (a cache is queried
/// with the scale): [N, V]. Throws as require_answers().
Matrix<double> memory_answers(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                              const Matrix<double>& keys);

/// The pairs that rows of a program write: of rows with two writes those of the one that erases nothing.
StoredPairs written_pairs(const Program<double>& rows);

/// The norm of prediction - value of every pair: [N].
Vector<double> recall_errors(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                             const StoredPairs& pairs);

/// K K^T of two windows of stored keys: [rows, columns], how much one key retrieves the value of another.
/// With `cosines` divided by the norms of both; 0 where a key is 0.
Matrix<double> interference(const StoredPairs& rows, const StoredPairs& columns, bool cosines);

/// Throws Unsupported with the reason where a rule has no memory shared by all pairs, so that no pair can
/// interfere with another.
void require_memory_to_ask(const Variant& variant);

/// Throws the same, except for a rule that can still be queried, such as one with a cache.
void require_answers(const Variant& variant);

/// Whether the memory returns S^T k, linear in S; else it divides, solves or evaluates a network.
bool answers_linearly(const Variant& variant);

/// The engine's states after `tokens` tokens, in f64. Throws InputError unless 0 <= tokens <= T.
NamedStates states_at(const Variant& variant, const Sequence& sequence, Index tokens,
                      std::stop_token stop = {});

}  // namespace palimpsest
