#include "core/insight/word_recall.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/insight/asked_words.h"
#include "core/insight/memory_change.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// The words' last pairs, one below the other.
StoredPairs pairs_of(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens) {
  StoredPairs pairs;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const StoredPairs pair = last_pair(variant, sequence, tokens[i]);
    if (i == 0) {
      pairs.keys.resize(static_cast<Index>(tokens.size()), pair.keys.cols());
      pairs.values.resize(static_cast<Index>(tokens.size()), pair.values.cols());
    }
    pairs.keys.row(static_cast<Index>(i)) = pair.keys;
    pairs.values.row(static_cast<Index>(i)) = pair.values;
  }
  return pairs;
}

void require_moments(std::span<const Index> moments, Index tokens) {
  if (!std::ranges::is_sorted(moments)) throw InputError("the moments must be in ascending order");
  if (moments.empty() || (moments.front() >= 0 && moments.back() <= tokens)) return;
  throw InputError(
      fmt::format("moments {} to {}; expected 0 to {} tokens", moments.front(), moments.back(), tokens));
}

/// Calls visit(moment, memory) for every one of them (an index).
template <class Visit>
void visit_moments(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                   std::span<const Index> moments, const std::stop_token& stop, Visit visit) {
  if (!changes_with_every_token(variant, sequence, recurrence)) {
    for (std::size_t moment = 0; moment < moments.size(); ++moment)
      visit(moment, memory_after(variant, sequence, recurrence, moments[moment], stop));
    return;
  }
  std::size_t next = 0;
  const auto step = [&](Index tokens, const NamedStates& states) {
    for (; next < moments.size() && moments[next] == tokens; ++next) visit(next, states);
    return next < moments.size();
  };
  if (!moments.empty()) variant.rule->walk_states(sequence, step, stop);
}

}  // namespace

WordRecall word_recall(const Variant& variant, const Sequence& sequence, const Trace& recurrence,
                       std::span<const Index> tokens, std::span<const Index> moments, std::stop_token stop) {
  require_answers(variant);
  require_moments(moments, sequence.tokens);
  WordRecall recall{.tokens = {tokens.begin(), tokens.end()}, .moments = {moments.begin(), moments.end()}};
  const auto words = static_cast<Index>(tokens.size());
  recall.recalled = Matrix<double>::Zero(words, static_cast<Index>(moments.size()));
  recall.errors = recall.recalled;
  if (tokens.empty()) return recall;
  const StoredPairs pairs = pairs_of(variant, sequence, tokens);
  const Matrix<double> keys = asking_keys(variant, pairs.keys);
  visit_moments(variant, sequence, recurrence, moments, stop,
                [&](std::size_t moment, const NamedStates& memory) {
                  const Matrix<double> answers = asked_answers(variant, sequence, memory, keys);
                  for (Index word = 0; word < words; ++word) {
                    const double squares = pairs.values.row(word).squaredNorm();
                    if (squares == 0) continue;
                    const auto column = static_cast<Index>(moment);
                    recall.recalled(word, column) = answers.row(word).dot(pairs.values.row(word)) / squares;
                    recall.errors(word, column) =
                        (answers.row(word) - pairs.values.row(word)).norm() / std::sqrt(squares);
                  }
                });
  return recall;
}

}  // namespace palimpsest
