// What a memory remembers: states token by token, recall, damage, interference, rank, capacity.

#include <cmath>

#include "core/insight/learning.h"
#include "core/insight/memory_change.h"
#include "core/insight/recall.h"
#include "core/insight/spectra.h"
#include "core/io/array_file.h"
#include "core/numbers/between.h"
#include "core/rules/row_rule.h"
#include "tests/apart.h"
#include "tests/capture_file.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Two keys at the cosine 0.6 with unit values at right angles.
Case two_pairs(const char* id, Arrays others = {}) {
  others["q"] = others["k"] = Array({2, 2}, std::vector<double>{1, 0, 0.6, 0.8});
  others["v"] = Array({2, 2}, std::vector<double>{1, 0, 0, 1});
  return bound(find_variant(id), resolve(find_variant(id), {}), std::move(others), id);
}

bool has_memory(const Case& each) { return each.variant->memory.none.empty(); }

}  // namespace

TEST_CASE("The states token by token are those of runs that end there") {
  for (const Index tokens : {1, 2, 17}) {
    for (const Case& each : all_cases({.tokens = tokens, .dk = 5, .dv = 4, .seed = 3})) {
      if (!has_memory(each)) continue;
      INFO(each.words);
      Index visited = 0;
      each.variant->rule->walk_states(each.sequence, [&](Index t, const NamedStates& states) {
        CHECK(t == visited++);
        if (t != 0 && t != tokens / 2 && t != tokens) return true;
        const Output run = first_tokens(each, t).run(Form::recurrent);
        // A state too early or too late is another one.
        if (t == 17) CHECK(states[0].second != first_tokens(each, 16).run(Form::recurrent).states[0].second);
        REQUIRE(states.size() == run.states.size());
        for (std::size_t i = 0; i < states.size(); ++i) {
          CHECK(states[i].first == run.states[i].first);
          // Whole blocks of rows may take other paths of exp than a single one.
          const double largest = run.states[i].second.cwiseAbs().maxCoeff();
          const double size = std::clamp(largest, 1.0, 1e300);  // a logarithm of nothing is -inf
          CHECK(furthest_apart(states[i].second, run.states[i].second) <= each.allowed(1e-14) * size);
        }
        return true;
      });
      CHECK(visited == tokens + 1);
    }
  }
  const Case each = random_case("kda", {.tokens = 4});
  Index visited = 0;
  each.variant->rule->walk_states(each.sequence, [&](Index, const NamedStates&) { return ++visited < 2; });
  CHECK(visited == 2);
}

TEST_CASE("The memory answers what the output reads") {
  // With the keys as queries, o_t is the answer for k_t; the skip connection D of Mamba is no memory.
  for (const char* id : {"linear", "kernel", "kda", "titans", "mesanet", "mamba", "ttt_linear"}) {
    const Settings given = std::string(id) == "kernel" ? Settings{{{"feature_map", "elu1"}}, {}} : Settings{};
    Case each = random_case(find_variant(id), given, {.tokens = 6, .dk = 3, .dv = 2});
    INFO(each.words);
    each = changed(each, [](Arrays& arrays) {
      arrays["q"] = arrays["k"];
      arrays.erase("D");
    });
    const Matrix<double> o = each.run(Form::recurrent).o;
    const NamedStates states = states_at(*each.variant, each.sequence, 6);
    // Kernelised attention maps q and k alike, so that its stored key is the mapped one.
    const Matrix<double> stored = stored_pairs(*each.variant, each.sequence, 5, 1).keys;
    const Matrix<double> answer = memory_answers(*each.variant, each.sequence, states, stored);
    CHECK((answer - o.row(5)).norm() < 1e-12 * std::max(1.0, o.row(5).norm()));
  }
}

TEST_CASE("Two pairs by hand") {
  const Case linear = two_pairs("linear");
  // S_2^T k_1 = v_1 + 0.6 v_2, S_2^T k_2 = v_2 + 0.6 v_1.
  const StoredPairs both = stored_pairs(*linear.variant, linear.sequence, 0, 2);
  const auto errors = [&](Index tokens) {
    return recall_errors(*linear.variant, linear.sequence,
                         states_at(*linear.variant, linear.sequence, tokens), both);
  };
  CHECK(errors(1)(0) == Approx(0).margin(1e-15));
  CHECK(errors(2)(0) == Approx(0.6).epsilon(1e-15));
  CHECK(errors(2)(1) == Approx(0.6).epsilon(1e-15));

  // The delta rule corrects k_2 exactly: it adds k_2 (v_2 - 0.6 v_1)^T, of which k_1 sees 0.6.
  const Case delta = two_pairs("deltanet", {{"beta", Array({2}, std::vector<double>{1, 1})}});
  const auto harmed = most_harmed(*delta.variant, delta.sequence, 1);
  REQUIRE(harmed);
  CHECK(harmed->token == 0);
  CHECK(harmed->before == Approx(0).margin(1e-15));
  CHECK(harmed->after == Approx(0.5 * 0.36 * 1.36).epsilon(1e-15));
  CHECK_FALSE(most_harmed(*delta.variant, delta.sequence, 0));
  // Written again, the first pair is repaired.
  Arrays again = *delta.arrays;
  for (const char* name : {"q", "k", "v"}) {
    auto& values = std::get<0>(again[name].own_values());
    values.insert(values.end(), values.begin(), values.begin() + 2);
    again[name].shape[0] = 3;
  }
  again["beta"] = Array({3}, std::vector<double>{1, 1, 1});
  const Case repaired = bound(*delta.variant, delta.settings, again);
  CHECK(most_harmed(*repaired.variant, repaired.sequence, 2)->token == 1);

  CHECK(interference(both, both, false)(0, 1) == Approx(0.6).epsilon(1e-15));
  const StoredPairs longer = {2 * both.keys, both.values};
  CHECK(interference(longer, both, false)(0, 1) == Approx(1.2).epsilon(1e-15));
  CHECK(interference(longer, both, true)(0, 1) == Approx(0.6).epsilon(1e-15));
  CHECK(interference({Matrix<double>::Zero(1, 2), {}}, both, true).isZero(0));
}

TEST_CASE("The effective rank counts directions in use") {
  CHECK(effective_rank(Vector<double>()) == 0);
  CHECK(effective_rank(Vector<double>::Zero(3)) == 0);
  CHECK(effective_rank(Vector<double>::Constant(3, 1e300)) == Approx(3).epsilon(1e-14));
  CHECK(effective_rank(Vector<double>({{5}, {5}, {0}})) == Approx(2).epsilon(1e-14));
  // exp(-(3/4 ln 3/4 + 1/4 ln 1/4))
  CHECK(effective_rank(Vector<double>({{3}, {1}})) ==
        Approx(std::exp(0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0))));

  // The second pair is one more direction: S = k_1 v_1^T + k_2 v_2^T, S S^T = K^T K with eigenvalues 1 +-
  // 0.6.
  const Case each = two_pairs("linear");
  CHECK(spectra_at(*each.variant, each.sequence, 0)[0].effective_rank == 0);
  CHECK(spectra_at(*each.variant, each.sequence, 1)[0].effective_rank == Approx(1).epsilon(1e-12));
  const Spectrum spectrum = spectra_at(*each.variant, each.sequence, 2)[0];
  CHECK(spectrum.name == "S");
  CHECK(spectrum.singular_values(0) == Approx(std::sqrt(1.6)).epsilon(1e-14));
  CHECK(spectrum.singular_values(1) == Approx(std::sqrt(0.4)).epsilon(1e-14));
  CHECK_THROWS_AS(spectra_at(*each.variant, each.sequence, 3), InputError);

  // Inside a batch the memory is the one that its words read, not one of a sequence that ends there.
  const Case lact =
      random_case(find_variant("lact"), {.parameters = {{"batch", 4}}}, {.tokens = 7, .dk = 3, .dv = 3});
  const auto values = [&](Index tokens) {
    return spectra_at(*lact.variant, lact.sequence, tokens)[0].singular_values;
  };
  CHECK(values(6) == values(4));
  CHECK(values(4) != values(3));
  CHECK(values(7) != values(6));
}

TEST_CASE("Orthonormal keys are recalled exactly as long as there are channels") {
  CapacityPlan plan{.counts = {1, 2, 9}, .dk = 9, .dv = 5, .keys = Keys::orthonormal, .draws = 3};
  for (const char* id : {"linear", "deltanet", "gated_deltanet", "kda"}) {
    INFO(id);
    for (const CapacityPoint& point : capacity(find_variant(id), plan)) CHECK(point.worst < 1e-13);
  }
  plan.counts = {10};
  CHECK_THROWS_WITH(capacity(find_variant("kda"), plan), says("there are at most 9"));
}

TEST_CASE("The delta rule with beta 1 recalls the last pair exactly, linear attention does not") {
  const CapacityPlan plan{.counts = {1, 2, 17, 40}, .dk = 8, .dv = 6, .keys = Keys::correlated, .draws = 2};
  const auto delta = capacity(find_variant("deltanet"), plan);
  const auto linear = capacity(find_variant("linear"), plan);
  for (const CapacityPoint& point : delta) CHECK(point.last < 1e-13);
  CHECK(delta[0].worst < 1e-13);
  CHECK(linear[0].worst < 1e-13);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(linear[i].last > 0.1);
    CHECK(delta[i].mean < linear[i].mean);
    CHECK(delta[i].worst > 0.1);  // it pays with the others
  }
  // More pairs than channels: random values cannot all be answered.
  CHECK(delta[3].mean > delta[1].mean);
}

TEST_CASE("Keys of a capacity sweep lie as asked") {
  CapacityPlan plan{.dk = 300, .keys = Keys::correlated};
  const Matrix<double> K = capacity_keys(plan, 40, 3);
  const Matrix<double> cosines = K * K.transpose();
  CHECK((cosines.diagonal().array() - 1).abs().maxCoeff() < 1e-14);
  const double mean = (cosines.sum() - 40) / (40 * 39);
  CHECK(mean == Approx(0.5).margin(0.03));  // normal numbers in 300 channels: cosines of about 1/sqrt(300)
  plan.keys = Keys::random;
  CHECK(std::abs(capacity_keys(plan, 40, 3).row(0).dot(capacity_keys(plan, 40, 3).row(1))) < 0.3);
  CHECK(capacity_keys(plan, 4, 3) == capacity_keys(plan, 4, 3));
  CHECK(capacity_keys(plan, 4, 3) != capacity_keys(plan, 4, 4));
}

TEST_CASE("Every memory has a capacity, or says why not") {
  CapacityPlan plan{.counts = {1, 2, 17}, .dk = 6, .dv = 6};
  for (const Variant& each : variants()) {
    INFO(each.id);
    if (!each.memory.none.empty()) {
      CHECK_THROWS_AS(capacity(each, plan), Unsupported);
      continue;
    }
    if (!each.makes.empty()) {
      CHECK_THROWS_WITH(capacity(each, plan), says("makes its keys itself"));
      continue;
    }
    for (const CapacityPoint& point : capacity(each, plan)) {
      CHECK(std::isfinite(point.worst));
      CHECK(point.worst >= point.mean);
      CHECK(point.mean > 0);
    }
  }
  const Case softmax = random_case("softmax", {.tokens = 2});
  CHECK_THROWS_WITH(most_harmed(*softmax.variant, softmax.sequence, 1), says("keeps every key"));
  const Case kda = random_case("kda", {.tokens = 2});
  CHECK_THROWS_AS(most_harmed(*kda.variant, kda.sequence, 2), InputError);
  CHECK_THROWS_AS(capacity(find_variant("linear"), plan, stopped()), Cancelled);
  plan.counts = {2, 1};
  CHECK_THROWS_AS(capacity(find_variant("linear"), plan), InputError);
}

TEST_CASE("the recall of a token is what the memory answers for its key before and after it") {
  for (const Case& each : all_cases({.tokens = 11, .dk = 4, .dv = 3, .seed = 21})) {
    INFO(each.words);
    const auto recalls = recall(*each.variant, each.sequence);
    CHECK(recalls.has_value() == each.variant->memory.none.empty());
    if (!recalls) continue;
    REQUIRE(recalls->size() == 11);
    const auto* rows = dynamic_cast<const RowRule*>(each.variant->rule.get());
    if (rows && rows->normalised()) continue;  // its bars show the sums themselves, not yet divided
    for (Index t = 0; t < 11; ++t) {
      const StoredPairs pairs = stored_pairs(*each.variant, each.sequence, t, 1);
      const Index last = pairs.keys.rows() - 1;
      const StoredPairs pair = {pairs.keys.row(last), pairs.values.row(last)};
      const auto half_squared = [&](Index tokens) {
        const NamedStates states = states_at(*each.variant, each.sequence, tokens);
        return 0.5 * recall_errors(*each.variant, each.sequence, states, pair).squaredNorm();
      };
      const Recall& recall = entry(*recalls, t);
      const auto [first, end] = written_with(each, t);
      CHECK(recall.after == Approx(half_squared(end + 1)).epsilon(1e-9).margin(1e-12));
      if (!rows) CHECK(recall.before == Approx(half_squared(first)).epsilon(1e-9).margin(1e-12));
      CHECK(recall.largest >= recall.root_mean_square);
    }
  }
}

TEST_CASE("where the error is taken on the faded memory, so is the recall before the write") {
  for (const char* id : {"deltanet", "gated_deltanet", "kda"}) {
    const Case each = random_case(id, {.tokens = 11, .dk = 4, .dv = 3, .seed = 22});
    const auto recalls = recall(*each.variant, each.sequence);
    const auto trace = each.trace(Form::recurrent, 1);
    for (Index t = 0; t < 11; ++t) {
      const double error = trace->record(t).at("error").squaredNorm();
      CHECK(entry(*recalls, t).before == Approx(0.5 * error));
    }
  }
}

// What a step does to pairs that were stored earlier.

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
    const Case each = random_case(id, {.tokens = 9, .dk = 6, .dv = 4, .seed = 13});
    INFO(each.words);
    const LearningStep step = learning_at(*each.variant, each.sequence, 8).back();
    for (const Index token : {0, 5, 8}) {
      const std::vector<double> rates = {0, 0.3, step.problem.rate, 1.9, 2.5};
      const std::vector<double> losses =
          losses_along(*each.variant, each.sequence, step, {.token = token}, rates);
      REQUIRE(losses.size() == rates.size());
      for (std::size_t i = 0; i < rates.size(); ++i) {
        const Case with_rate = changed(each, [&](Arrays& arrays) { numbers(arrays, "beta")[8] = rates[i]; });
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
  const Case mesa = random_case("mesanet", {.tokens = 6, .dk = 5, .dv = 4});
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

// Numbers that are made for pictures.

TEST_CASE("between two matrices lie both of them, exactly", "[pictures]") {
  const Matrix<double> from{{0.1, 1e17, -3}, {0.7, 2, 5}};
  const Matrix<double> to{{0.3, -1, 1e-9}, {0.1, 4, 5}};
  CHECK(between(from, to, 0) == from);
  CHECK(between(from, to, 1) == to);
  CHECK(between(from, to, 0.5)(1, 1) == 3);
}

TEST_CASE("what is lost is told by powers of ten", "[pictures]") {
  for (const double kept : {1.0, 0.99999}) CHECK(forgotten_part(kept) == 0);
  CHECK(forgotten_part(0.9999) == Approx(0).margin(1e-12));
  CHECK(forgotten_part(0.99) == Approx(0.5).epsilon(1e-12));
  CHECK(forgotten_part(0.9) == Approx(0.75).epsilon(1e-12));
  CHECK(forgotten_part(0) == 1);
}

TEST_CASE("the figures of a matrix are those of its entries", "[pictures]") {
  Matrix<double> X{{-4, 0}, {0, 0}, {0, 3}};
  const MatrixFigures figures = matrix_figures(X, 4);
  CHECK(figures.least == -4);
  CHECK(figures.largest == 3);
  CHECK(figures.range == 4);
  CHECK(figures.root_mean_square == Approx(5 / std::sqrt(6.0)).epsilon(1e-15));
  CHECK(figures.counts == (Vector<double>(4) << 1, 0, 4, 1).finished());
  REQUIRE(figures.singular_values.size() == 2);
  CHECK(figures.singular_values(0) == Approx(4).epsilon(1e-14));
  CHECK(figures.singular_values(1) == Approx(3).epsilon(1e-14));
  CHECK(figures.effective_rank > 1.9);
  X(1, 1) = std::numeric_limits<double>::quiet_NaN();
  const MatrixFigures broken = matrix_figures(X, 4);
  CHECK(broken.not_finite == 1);
  CHECK(broken.counts.sum() == 5);
  CHECK(broken.singular_values.size() == 0);
}

TEST_CASE("the strongest links are the largest products, the weakest of them first", "[pictures]") {
  const Matrix<double> products{{2, -10, 0}, {-2, -1, -4}};
  const auto links = strong_links(products, 3);
  REQUIRE(links.size() == 3);
  CHECK(links[2].from == 0);
  CHECK(links[2].to == 1);
  CHECK(links[2].amount == -10);
  CHECK(links[1].amount == -4);
  CHECK(std::abs(links[0].amount) == 2);
  CHECK(strong_links(products, 99).size() == 5);
}
