#include "core/recall_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/newton_schulz.h"

namespace palimpsest {

namespace {

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

/// Each row divided by its length; 0 stays 0.
Matrix<double> directions(Matrix<double> keys) {
  for (Index row = 0; row < keys.rows(); ++row) keys.row(row).stableNormalize();
  return keys;
}

}  // namespace

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

Matrix<double> interference(const StoredPairs& rows, const StoredPairs& columns, bool cosines) {
  if (!cosines) return rows.keys * columns.keys.transpose();
  return directions(rows.keys) * directions(columns.keys).transpose();
}

double effective_rank(const Vector<double>& singular_values) {
  const double largest = singular_values.size() == 0 ? 0 : singular_values.maxCoeff();
  if (largest == 0) return 0;
  const Vector<double> relative = singular_values / largest;  // their sum cannot overflow
  const double sum = relative.sum();
  double entropy = 0;
  for (const double value : relative) {
    const double share = value / sum;
    if (share > 0) entropy -= share * std::log(share);
  }
  return std::exp(entropy);
}

std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop) {
  require_memory_to_ask(variant);
  std::vector<Spectrum> spectra;
  for (const auto& [name, state] : states_at(variant, sequence, tokens, std::move(stop))) {
    if (!state.allFinite())
      throw InputError(fmt::format("the state {} after {} tokens is not finite", name, tokens));
    const Vector<double> values = singular_values(state);
    spectra.push_back({name, values, effective_rank(values)});
  }
  return spectra;
}

}  // namespace palimpsest
