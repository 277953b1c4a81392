#include "core/rules/stored_pairs.h"

#include "core/base/refuse.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

/// Each row divided by its norm; 0 stays 0.
Matrix<double> directions(Matrix<double> keys) {
  for (Index row = 0; row < keys.rows(); ++row) keys.row(row).stableNormalize();
  return keys;
}

}  // namespace

StoredPairs written_pairs(const Program<double>& rows) {
  if (rows.structure.plain_write) return {rows.k_plain, rows.v_plain};
  return {rows.k, rows.v};
}

void require_memory_to_ask(const Variant& variant) {
  if (!variant.memory.none.empty()) throw Unsupported(variant.memory.none);
}

void require_answers(const Variant& variant) {
  if (!variant.memory.answers) require_memory_to_ask(variant);
}

bool answers_linearly(const Variant& variant) {
  const RowRule* const rows = variant.rule->row_program();
  return !variant.memory.answers && !(rows && rows->normalised());
}

StoredPairs stored_pairs(const Variant& variant, const Sequence& sequence, Index first, Index count) {
  require_answers(variant);
  if (variant.memory.pairs) return variant.memory.pairs(sequence, first, count);
  const RowRule* const rows = variant.rule->row_program();
  if (!rows)
    return {sequence.at("k").rows<double>(first, count), sequence.at("v").rows<double>(first, count)};
  StoredPairs pairs = written_pairs(rows->encode<double>(sequence, first, count));
  // The constant 1 of a normalised rule is no value: the output is divided by what it sums up.
  if (rows->normalised()) pairs.values = Matrix<double>(pairs.values.leftCols(pairs.values.cols() - 1));
  return pairs;
}

Matrix<double> memory_answers(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                              const Matrix<double>& keys) {
  require_answers(variant);
  if (variant.memory.answers) return variant.memory.answers(sequence, states, keys);
  const RowRule* const rows = variant.rule->row_program();
  if (rows && rows->normalised()) return rows->divided<double>(keys * program_state(states), sequence);
  return keys * state_of(states, "S");
}

Vector<double> recall_errors(const Variant& variant, const Sequence& sequence, const NamedStates& states,
                             const StoredPairs& pairs) {
  return (memory_answers(variant, sequence, states, pairs.keys) - pairs.values).rowwise().norm();
}

Matrix<double> interference(const StoredPairs& rows, const StoredPairs& columns, bool cosines) {
  if (!cosines) return rows.keys * columns.keys.transpose();
  return directions(rows.keys) * directions(columns.keys).transpose();
}

NamedStates states_at(const Variant& variant, const Sequence& sequence, Index tokens, std::stop_token stop) {
  if (tokens < 0 || tokens > sequence.tokens)
    refuse("the state after {} tokens; expected 0 to {}", tokens, sequence.tokens);
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
