#pragma once

#include "core/operator/program.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// The pairs that tokens first .. first+count-1 leave in the memory of `variant`: Variant::memory, else the
/// keys and values that a row program writes (features of kernelised attention, h pairs per token of
/// DeltaProduct), else k and v. Throws as require_answers().
StoredPairs stored_pairs(const Variant& variant, const Sequence& sequence, Index first, Index count);

/// What the memory in `states` answers for `keys` [N, K], as o would be for an unscaled q (a cache is asked
/// as by a query, scale and all): [N, V]. Throws as require_answers().
Matrix<double> memory_answers(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                              const Matrix<double>& keys);

/// The pairs that rows of a program write: of rows with two writes those of the one that erases nothing.
StoredPairs written_pairs(const Program<double>& rows);

/// |answer - value| of every pair: [N].
Vector<double> recall_errors(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                             const StoredPairs& pairs);

/// K K^T of two windows of stored keys: [first_count, second_count], how much one key answers for another.
/// With `cosines` divided by the lengths of both; 0 where a key is 0.
Matrix<double> interference(const StoredPairs& rows, const StoredPairs& columns, bool cosines);

/// Throws Unsupported with the reason where a rule has no memory that pairs share: none of them can be harmed
/// or forgotten.
void require_memory_to_ask(const Variant& variant);

/// Throws the same unless the rule answers all the same, as a cache does.
void require_answers(const Variant& variant);

/// Whether answers are S^T k, linear in the memory; else they are divided, solved for or made by a network.
bool answers_linearly(const Variant& variant);

/// The engine's states after `tokens` tokens, in f64. Throws InputError unless 0 <= tokens <= T.
NamedStates states_at(const Variant& variant, const Sequence& sequence, Index tokens,
                      std::stop_token stop = {});

}  // namespace palimpsest
