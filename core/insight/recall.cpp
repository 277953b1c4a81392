#include "core/insight/recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/engines/recurrent.h"
#include "core/insight/tokens_done.h"
#include "core/insight/written_together.h"
#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

/// |answer of S - v|^2 / 2 of what a row writes.
double half_squared_error(const Matrix<double>& S, const Program<double>& row) {
  const StoredPairs pair = written_pairs(row);
  return 0.5 * recall_differences(pair.keys * S, pair).squaredNorm();
}

/// The memory in which the row's error is taken: faded, unless the rule erases before it fades.
Matrix<double> before_write(const Program<double>& row, const Matrix<double>& S) {
  return seen_by_query(row, row.structure.erase == Erase::undecayed ? S : kept_state(row, S));
}

std::vector<Recall> recall_of_rows(const RowRule& rule, const Sequence& sequence, const std::stop_token& stop,
                                   const TokensDone& done) {
  std::vector<Recall> recalls;
  const auto visit = [&](Index token, bool is_last, const Program<double>& row, Matrix<double>& S) {
    const double before = is_last ? half_squared_error(before_write(row, S), row) : 0;
    recurrent(row, S);
    if (!is_last) return true;
    done.tell(token + 1);
    const Matrix<double> after = seen_by_query(row, S);
    recalls.push_back({before, half_squared_error(after, row), after.cwiseAbs().maxCoeff(),
                       after.norm() / std::sqrt(static_cast<double>(after.size()))});
    return true;
  };
  walk_rows(rule, sequence, visit, stop);
  return recalls;
}

/// Of any other memory, asked between the tokens, or between those that are written together.
std::vector<Recall> recall_of_walk(const Variant& variant, const Sequence& sequence, std::stop_token stop,
                                   const TokensDone& done) {
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
  const Index size = tokens_per_step(variant, sequence);
  std::vector<Recall> recalls(static_cast<std::size_t>(sequence.tokens));
  const auto visit = [&](Index tokens, const NamedStates& states) {
    if (tokens > 0) done.tell(tokens);
    if (tokens_written(sequence, size, tokens) != tokens) return true;
    const auto half_squared = [&](Index token) {
      const StoredPairs pair = {pairs.keys.middleRows(token, 1), pairs.values.middleRows(token, 1)};
      return 0.5 * recall_errors(variant, sequence, states, pair).squaredNorm();
    };
    const Matrix<double>& S = states.front().second;
    for (Index token = tokens == 0 ? 0 : (tokens - 1) / size * size; token < tokens; ++token) {
      Recall& recall = recalls[static_cast<std::size_t>(token)];
      recall.after = half_squared(token);
      recall.largest = S.cwiseAbs().maxCoeff();
      recall.root_mean_square = S.norm() / std::sqrt(static_cast<double>(S.size()));
    }
    for (Index token = tokens; token < std::min(tokens + size, sequence.tokens); ++token)
      recalls[static_cast<std::size_t>(token)].before = half_squared(token);
    return true;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return recalls;
}

/// The first `count` pairs.
StoredPairs head(const StoredPairs& pairs, Index count) {
  return {pairs.keys.topRows(count), pairs.values.topRows(count)};
}

}  // namespace

std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop, const std::function<void(double)>& progress) {
  if (!variant.memory.none.empty()) return std::nullopt;
  const TokensDone done(sequence.tokens, progress);
  const RowRule* const rows = variant.rule->row_program();
  const bool asks_as_written = !variant.memory.pairs && !variant.memory.answers;
  if (rows && asks_as_written) return recall_of_rows(*rows, sequence, stop, done);
  return recall_of_walk(variant, sequence, std::move(stop), done);
}

WriteEffect write_effect(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop) {
  require_memory_to_ask(variant);
  const auto [first, last] =
      written_together(variant, sequence, token).value_or(WrittenTogether{token, token});
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, last + 1);
  WriteEffect effect{.first_token = first, .pairs_per_token = pairs.keys.rows() / (last + 1)};
  const Index earlier = first * effect.pairs_per_token;
  const auto visit = [&](Index tokens, const NamedStates& states) {
    if (tokens == first && earlier > 0)
      effect.before = recall_errors(variant, sequence, states, head(pairs, earlier));
    if (tokens <= last) return true;
    const Vector<double> errors = recall_errors(variant, sequence, states, pairs);
    effect.after = errors.head(earlier);
    effect.own = errors.tail(errors.size() - earlier);
    return false;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return effect;
}

}  // namespace palimpsest
