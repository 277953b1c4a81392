#include "core/stored_pairs.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/inner_problem.h"
#include "core/row_rule.h"

namespace palimpsest {

namespace {

StoredPairs written_by(const RowRule& rule, const Sequence& sequence, Index first, Index count) {
  const Program<double> rows = rule.encoder().encode<double>(sequence, first, count);
  StoredPairs pairs =
      rows.structure.plain_write ? StoredPairs{rows.k_plain, rows.v_plain} : StoredPairs{rows.k, rows.v};
  // The constant 1 of a normalised rule is no value: the answer is divided by it.
  if (rule.normalised()) pairs.values = Matrix<double>(pairs.values.leftCols(pairs.values.cols() - 1));
  return pairs;
}

}  // namespace

void require_memory_to_ask(const Variant& variant) {
  if (!variant.memory.none.empty()) throw Unsupported(variant.memory.none);
}

StoredPairs stored_pairs(const Variant& variant, const Sequence& sequence, Index first, Index count) {
  require_memory_to_ask(variant);
  if (variant.memory.pairs) return variant.memory.pairs(sequence, first, count);
  const auto* rows = dynamic_cast<const RowRule*>(variant.rule.get());
  if (rows) return written_by(*rows, sequence, first, count);
  return {sequence.at("k").rows<double>(first, count), sequence.at("v").rows<double>(first, count)};
}

Matrix<double> memory_answers(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                              const Matrix<double>& keys) {
  require_memory_to_ask(variant);
  if (variant.memory.answers) return variant.memory.answers(sequence, states, keys);
  const auto* rows = dynamic_cast<const RowRule*>(variant.rule.get());
  if (rows && rows->normalised()) return rows->finish<double>(keys * program_state(states), sequence);
  return keys * state_of(states, "S");
}

Vector<double> recall_errors(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                             const StoredPairs& pairs) {
  return (memory_answers(variant, sequence, states, pairs.keys) - pairs.values).rowwise().norm();
}

NamedStates states_at(const Variant& variant, const Sequence& sequence, Index tokens, std::stop_token stop) {
  if (tokens < 0 || tokens > sequence.tokens) {
    throw InputError(fmt::format("the state after {} tokens; expected 0 to {}", tokens, sequence.tokens));
  }
  NamedStates found;
  variant.rule->walk_states(
      sequence,
      [&](Index now, const NamedStates& states) {
        if (now == tokens) found = states;
        return now < tokens;
      },
      std::move(stop));
  return found;
}

}  // namespace palimpsest
