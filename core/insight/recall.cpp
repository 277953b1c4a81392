#include "core/insight/recall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/engines/recurrent.h"
#include "core/insight/tokens_done.h"
#include "core/rules/row_state.h"
#include "core/rules/row_walk.h"

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

/// Of any other memory, asked between the tokens.
std::vector<Recall> recall_of_walk(const Variant& variant, const Sequence& sequence, std::stop_token stop,
                                   const TokensDone& done) {
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, sequence.tokens);
  std::vector<Recall> recalls(static_cast<std::size_t>(sequence.tokens));
  const auto visit = [&](Index tokens, const NamedStates& states) {
    const auto half_squared = [&](Index token) {
      const StoredPairs pair = {pairs.keys.middleRows(token, 1), pairs.values.middleRows(token, 1)};
      return 0.5 * recall_errors(variant, sequence, states, pair).squaredNorm();
    };
    if (tokens < sequence.tokens) recalls[static_cast<std::size_t>(tokens)].before = half_squared(tokens);
    if (tokens == 0) return true;
    done.tell(tokens);
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

void require_tokens(const Sequence& sequence, Index first, Index count) {
  if (first < 0 || count < 0 || first > sequence.tokens || count > sequence.tokens - first) {
    throw InputError(fmt::format("tokens {} to {}; the sequence has {} tokens, counted from 0", first,
                                 first + count - 1, sequence.tokens));
  }
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
  const auto* rows = dynamic_cast<const RowRule*>(variant.rule.get());
  const bool asks_as_written = !variant.memory.pairs && !variant.memory.answers;
  if (rows && asks_as_written) return recall_of_rows(*rows, sequence, stop, done);
  return recall_of_walk(variant, sequence, std::move(stop), done);
}

RecallWindow recall_window(const Variant& variant, const Sequence& sequence, Index first, Index count,
                           std::span<const Index> moments, std::stop_token stop) {
  require_memory_to_ask(variant);
  require_tokens(sequence, first, count);
  RecallWindow window{
      .first_token = first, .token_count = count, .moments = {moments.begin(), moments.end()}};
  if (!std::ranges::is_sorted(moments))
    throw InputError("the moments of a window must be in ascending order");
  if (!moments.empty() && (moments.front() < 0 || moments.back() > sequence.tokens)) {
    throw InputError(fmt::format("moments {} to {}; expected 0 to {} tokens", moments.front(), moments.back(),
                                 sequence.tokens));
  }
  const StoredPairs pairs = stored_pairs(variant, sequence, first, count);
  if (count > 0) window.pairs_per_token = pairs.keys.rows() / count;
  window.errors = Matrix<double>::Zero(pairs.keys.rows(), static_cast<Index>(moments.size()));
  window.lengths = pairs.values.rowwise().norm();
  if (moments.empty()) return window;

  std::size_t next = 0;
  const auto visit = [&](Index tokens, const NamedStates& states) {
    const std::size_t same = next;
    while (next < moments.size() && moments[next] == tokens) ++next;
    const Index known = std::clamp<Index>(tokens - first, 0, count) * window.pairs_per_token;
    if (same == next || known == 0) return next < moments.size();
    const Vector<double> errors = recall_errors(variant, sequence, states, head(pairs, known));
    for (std::size_t moment = same; moment < next; ++moment)
      window.errors.col(static_cast<Index>(moment)).head(known) = errors;
    return next < moments.size();
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return window;
}

WriteEffect write_effect(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop) {
  require_memory_to_ask(variant);
  require_tokens(sequence, token, 1);
  const StoredPairs pairs = stored_pairs(variant, sequence, 0, token + 1);
  const Index earlier = pairs.keys.rows() / (token + 1) * token;
  WriteEffect effect;
  const auto visit = [&](Index tokens, const NamedStates& states) {
    if (tokens == token && earlier > 0)
      effect.before = recall_errors(variant, sequence, states, head(pairs, earlier));
    if (tokens <= token) return true;
    const Vector<double> errors = recall_errors(variant, sequence, states, pairs);
    effect.after = errors.head(earlier);
    effect.own = errors.tail(errors.size() - earlier);
    return false;
  };
  variant.rule->walk_states(sequence, visit, std::move(stop));
  return effect;
}

}  // namespace palimpsest
