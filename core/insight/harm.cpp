#include "core/insight/harm.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/insight/recall.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// What the weights of a problem answer: they are the memory, or, of MesaNet, what the memory is solved for.
Matrix<double> answers(const Variant& variant, const Sequence& sequence, const InnerProblem& problem,
                       const Weights<double>& weights, const Matrix<double>& key) {
  NamedStates states;
  for (std::size_t i = 0; i < weights.size(); ++i) states.emplace_back(problem.names[i], weights[i]);
  const auto is_given = [&](const std::string& state) {
    return std::ranges::find(problem.names, state) != problem.names.end();
  };
  const bool are_states = std::ranges::any_of(states_of(variant, sequence.settings), is_given);
  const bool is_program = variant.rule->row_program() != nullptr;
  if (!are_states && !is_program) return key * weights.front();
  return memory_answers(variant, sequence, states, key);
}

}  // namespace

std::optional<HarmedPair> most_harmed(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop) {
  const WriteEffect effect = write_effect(variant, sequence, token, std::move(stop));
  const Index steps = effect.pairs_per_token;
  std::optional<HarmedPair> worst;
  double most = 0;
  for (Index pair = 0; pair < effect.before.size(); ++pair) {
    const double before = 0.5 * effect.before(pair) * effect.before(pair);
    const double after = 0.5 * effect.after(pair) * effect.after(pair);
    if (!(after - before > most)) continue;
    most = after - before;
    worst = {.token = pair / steps, .step = pair % steps, .before = before, .after = after};
  }
  return worst;
}

std::vector<double> losses_along(const Variant& variant, const Sequence& sequence, const LearningStep& step,
                                 const HarmedPair& pair, std::span<const double> rates) {
  require_memory_to_ask(variant);
  if (pair.token < 0 || pair.token >= sequence.tokens) {
    throw InputError(
        fmt::format("token {}; expected one of the {} tokens, counted from 0", pair.token, sequence.tokens));
  }
  const StoredPairs of_token = stored_pairs(variant, sequence, pair.token, 1);
  if (pair.step < 0 || pair.step >= of_token.keys.rows()) {
    throw InputError(
        fmt::format("step {} of token {}; it takes {}", pair.step, pair.token, of_token.keys.rows()));
  }
  const StoredPairs asked = {of_token.keys.row(pair.step), of_token.values.row(pair.step)};
  std::vector<double> losses;
  for (const double rate : rates) {
    Weights<double> weights = step.problem.at;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * step.gradient[i];
    const Matrix<double> answer = answers(variant, sequence, step.problem, weights, asked.keys);
    losses.push_back(0.5 * recall_differences(answer, asked).squaredNorm());
  }
  return losses;
}

}  // namespace palimpsest
