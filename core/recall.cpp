#include "core/recall.h"

#include <algorithm>
#include <cmath>

#include "core/engines/parts.h"
#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_rule.h"
#include "core/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 64;

double half_squared_error(const Matrix<double>& S, const Program<double>& row) {
  const bool plain = row.structure.plain_write;
  const Matrix<double>& k = plain ? row.k_plain : row.k;
  const Matrix<double>& v = plain ? row.v_plain : row.v;
  return 0.5 * (k * S - v).squaredNorm();
}

/// The memory as the row's query sees it: the parts of a state added up.
Matrix<double> memory(const Matrix<double>& S, const Program<double>& row) {
  return row.structure.parts.empty() ? S : seen<double>(S, row.read_sight);
}

/// The memory in which the row's error is taken: faded, unless the rule erases before it fades.
Matrix<double> faded(const Matrix<double>& S, const Program<double>& row) {
  if (row.structure.erase == Erase::undecayed) return memory(S, row);
  if (!row.structure.parts.empty()) return memory(mixed<double>(row.transition_of(0), S), row);
  Matrix<double> kept = S;
  const Matrix<double> alpha = row.alpha();
  if (row.structure.decay == Decay::scalar) kept *= alpha(0, 0);
  if (row.structure.decay == Decay::key) kept.array().colwise() *= alpha.row(0).transpose().array();
  if (row.structure.value_decay) kept.array().rowwise() *= row.mu.row(0).array();
  return kept;
}

std::vector<Recall> recall_of_rows(const RowRule& rule, const Sequence& sequence,
                                   const std::stop_token& stop) {
  std::vector<Recall> recalls;
  Matrix<double> S = rule.initial_state<double>(sequence);
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    if (stop.stop_requested()) throw Cancelled();
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const Program<double> block = rule.encoder().encode<double>(sequence, first, count);
    const Index steps = block.structure.rows_per_read;
    for (Index t = 0; t < count; ++t) {
      for (Index step = 0; step + 1 < steps; ++step) recurrent(block.row(t * steps + step), S);
      const Program<double> row = block.row((t + 1) * steps - 1);
      const double before = half_squared_error(faded(S, row), row);
      recurrent(row, S);
      const Matrix<double> after = memory(S, row);
      recalls.push_back({before, half_squared_error(after, row), after.cwiseAbs().maxCoeff(),
                         after.norm() / std::sqrt(static_cast<double>(after.size()))});
    }
  }
  return recalls;
}

/// Of any other memory, asked between the tokens.
std::vector<Recall> recall_of_walk(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
  std::vector<Recall> recalls(static_cast<std::size_t>(sequence.tokens));
  const auto visit = [&](Index tokens, const NamedStates& states) {
    const auto half_squared = [&](Index token) {
      const StoredPairs pair = {pairs.keys.middleRows(token, 1), pairs.values.middleRows(token, 1)};
      return 0.5 * recall_errors(variant, sequence, states, pair).squaredNorm();
    };
    if (tokens < sequence.tokens) recalls[static_cast<std::size_t>(tokens)].before = half_squared(tokens);
    if (tokens == 0) return true;
    Recall& recall = recalls[static_cast<std::size_t>(tokens - 1)];
    recall.after = half_squared(tokens - 1);
    const Matrix<double>& S = states.front().second;
    recall.largest = S.cwiseAbs().maxCoeff();
    recall.root_mean_square = S.norm() / std::sqrt(static_cast<double>(S.size()));
    return true;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return recalls;
}

}  // namespace

std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop) {
  if (!variant.memory.none.empty()) return std::nullopt;
  const auto* rows = dynamic_cast<const RowRule*>(variant.rule.get());
  const bool asks_as_written = !variant.memory.pairs && !variant.memory.answers;
  if (rows && asks_as_written) return recall_of_rows(*rows, sequence, stop);
  return recall_of_walk(variant, sequence, std::move(stop));
}

}  // namespace palimpsest
