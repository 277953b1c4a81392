// What a step does to pairs that were stored earlier.

#include "core/insight/recall.h"

#include <cmath>

#include "core/base/error.h"
#include "core/io/capture.h"
#include "core/rules/stored_pairs.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// 1/2 |answer - v|^2 of a pair, from the states of a run that ends after `tokens` tokens.
double plain_loss(const Case& each, Index tokens, Index token, Index step) {
  const NamedStates states = first_tokens(each, tokens).run(Form::recurrent).states;
  const StoredPairs pairs = stored_pairs(*each.variant, each.sequence, token, 1);
  const Matrix<double> answer = memory_answers(*each.variant, each.sequence, states, pairs.keys.row(step));
  return 0.5 * (answer - pairs.values.row(step)).squaredNorm();
}

}  // namespace

TEST_CASE("Writing drum harms key most") {
  const Capture capture = read_capture(assets_folder() + "/captures/gated_deltanet_overwrite_l1.npz");
  const Variant& variant = find_variant("gated_deltanet");
  const Sequence sequence =
      palimpsest::bind(variant, std::make_shared<const Arrays>(capture.arrays), {}).heads.front();
  const auto harmed = most_harmed(variant, sequence, 42);
  REQUIRE(harmed);
  CHECK(harmed->token == 6);
  CHECK(harmed->before == Approx(0.106).margin(5e-4));
  CHECK(harmed->after == Approx(0.243).margin(5e-4));
  CHECK_FALSE(most_harmed(variant, sequence, 0));
}

TEST_CASE("The pair that a token harms most is found among all earlier ones") {
  for (const Case& each : all_cases({.tokens = 9, .dk = 6, .dv = 6, .seed = 12})) {
    if (!each.variant->memory.none.empty()) continue;
    INFO(each.words);
    const Index steps = stored_pairs(*each.variant, each.sequence, 0, 1).keys.rows();
    double most = 0;
    std::pair<Index, Index> worst = {-1, -1};
    const auto [first, last] = written_with(each, 8);
    for (Index token = 0; token < first; ++token) {
      for (Index step = 0; step < steps; ++step) {
        const double harm = plain_loss(each, last + 1, token, step) - plain_loss(each, first, token, step);
        if (harm > most) worst = {token, step};
        most = std::max(most, harm);
      }
    }
    const auto found = most_harmed(*each.variant, each.sequence, 8);
    REQUIRE(found.has_value() == (most > 0));
    if (!found) continue;
    CHECK(std::pair(found->token, found->step) == worst);
    const auto loss = [&](Index tokens) {
      return Approx(plain_loss(each, tokens, found->token, found->step)).epsilon(1e-9).margin(1e-12);
    };
    CHECK(found->before == loss(first));
    CHECK(found->after == loss(last + 1));
  }
}

TEST_CASE("Along a step of the delta family the loss of another pair is that of a run with this strength") {
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "two_sided_delta", "value_decay_delta"}) {
    const Case each = random_case(find_variant(id), {}, {.tokens = 9, .dk = 6, .dv = 4, .seed = 13});
    INFO(each.words);
    const LearningStep step = learning_at(*each.variant, each.sequence, 8).back();
    for (const Index token : {0, 5, 8}) {
      const std::vector<double> rates = {0, 0.3, step.problem.rate, 1.9, 2.5};
      const std::vector<double> losses =
          losses_along(*each.variant, each.sequence, step, {.token = token}, rates);
      REQUIRE(losses.size() == rates.size());
      for (std::size_t i = 0; i < rates.size(); ++i) {
        Arrays arrays = *each.arrays;
        std::get<0>(arrays["beta"].values)[8] = rates[i];
        const Case with_rate = bound(*each.variant, each.settings, arrays);
        CHECK(losses[i] == Approx(plain_loss(with_rate, 9, token, 0)).epsilon(1e-9).margin(1e-12));
      }
      // Of the word's own pair it is the loss of the step.
      if (token == 8) CHECK(losses[1] == Approx(losses_along(step, rates)[1]).epsilon(1e-12));
    }
  }
}

TEST_CASE("A plain step ends where the memory is after it, also for other pairs and in networks") {
  int checked = 0;
  for (const Case& each : all_cases({.tokens = 6, .dk = 6, .dv = 6, .seed = 14})) {
    if (!each.variant->memory.none.empty() || !each.variant->loss.problems) continue;
    INFO(each.words);
    std::vector<LearningStep> steps;
    try {
      steps = learning_at(*each.variant, each.sequence, 5);
    } catch (const Unsupported&) {  // this token has no loss
      continue;
    }
    const LearningStep& step = steps.back();
    const bool preconditioned = std::ranges::any_of(
        step.problem.terms, [](const WeighedTerm& term) { return term.preconditioner.size() > 0; });
    const bool is_plain = step.problem.kept == 1 && !step.problem.muon && !step.problem.column_norm &&
                          step.problem.moving.empty() && step.problem.is_fresh() && !preconditioned;
    const std::vector<double> rates = {0, step.problem.rate};
    const std::vector<double> losses = losses_along(*each.variant, each.sequence, step, {.token = 2}, rates);
    CHECK(std::isfinite(losses[0]));
    if (!is_plain) continue;
    ++checked;
    CHECK(losses[1] == Approx(plain_loss(each, 6, 2, 0)).epsilon(1e-9).margin(1e-12));
  }
  CHECK(checked > 30);

  // MesaNet solves for the memory that answers: at rate 0 that of the tokens before.
  const Case mesa = random_case(find_variant("mesanet"), {}, {.tokens = 6, .dk = 5, .dv = 4});
  const LearningStep step = learning_at(*mesa.variant, mesa.sequence, 5).back();
  const std::vector<double> losses =
      losses_along(*mesa.variant, mesa.sequence, step, {.token = 2}, std::vector<double>{0});
  CHECK(losses[0] == Approx(plain_loss(mesa, 5, 2, 0)).epsilon(1e-9));

  CHECK_THROWS_WITH(losses_along(*mesa.variant, mesa.sequence, step, {.token = 6}, std::vector<double>{0}),
                    says("token 6"));
  CHECK_THROWS_WITH(
      losses_along(*mesa.variant, mesa.sequence, step, {.token = 2, .step = 1}, std::vector<double>{0}),
      says("step 1 of token 2; it takes 1"));
}
