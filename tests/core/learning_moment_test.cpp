// What the pictures of Learn are made of, against their definitions written plainly.

#include "core/insight/learning.h"

#include <Eigen/QR>

#include "core/engines/inner_network.h"
#include "core/insight/memory_change.h"
#include "core/insight/recall.h"
#include "core/insight/spectra.h"
#include "core/rules/row_map.h"
#include "core/written/written_rule.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double exact_loss = 1e-9;

/// What there is to see of a step.
LearningMoment moment_of(const Case& each, Index token, Index points = 161) {
  const auto moment = learning_moment(*each.variant, each.sequence, token, points);
  REQUIRE(moment);
  return *moment;
}

}  // namespace

TEST_CASE("the loss along the gradient is that of the memory on the line, for every variant", "[moment]") {
  for (const Case& each : all_cases({.tokens = 7, .dk = 4, .dv = 4})) {
    if (!each.variant->loss.problems) continue;
    CAPTURE(each.words);
    std::optional<LearningMoment> moment;
    try {
      moment = learning_moment(*each.variant, each.sequence, 6, 7);
    } catch (const Unsupported&) {
    }
    if (!moment) continue;
    REQUIRE(moment->rates.size() == 7);
    CHECK(moment->rates.front() == 0);
    const InnerProblem& problem = moment->step.problem;
    double size = 1;
    for (const double loss : moment->losses) size = std::max(size, std::abs(loss));
    for (std::size_t i = 0; i < moment->rates.size(); ++i) {
      Weights<double> W = problem.at;
      for (std::size_t m = 0; m < W.size(); ++m) W[m] -= moment->rates[i] * moment->step.gradient[m];
      CHECK(std::abs(moment->losses[i] - problem.loss(W)) <= exact_loss * size);
      CHECK(loss_on_line(*moment, moment->rates[i]) == moment->losses[i]);
    }
    CHECK(moment->check.places > 0);
    // Central differences of the third order at numbers of about 1; a layer norm bends within 1e-3.
    CHECK(moment->check.error < 1e-4);
    for (std::size_t m = 0; m < problem.from.size(); ++m) {
      const Matrix<double> again = problem.kept * problem.from[m] + moment->written[m];
      CHECK(deviation(moment->step.after.weights[m], again) <= exact_loss);
    }
  }
}

TEST_CASE("one pair steps up to 2 / |k|^2, and its gradient is key times error", "[moment]") {
  const Case each = random_case("gated_deltanet", {.tokens = 9, .dk = 5, .dv = 3});
  const Index token = 7;
  const LearningMoment moment = moment_of(each, token);
  const Matrix<double> k = each.row("k", token);
  const Matrix<double> v = each.row("v", token);
  const double squares = k.squaredNorm();
  CHECK(std::abs(moment.edge - 2 / squares) <= exact_loss * 2 / squares);
  CHECK(moment.edge == moment.parabola_edge);
  CHECK(std::abs(loss_on_line(moment, moment.edge) / moment.step.along.value - 1) < exact_loss);
  // Also between the points, and near the floor, where a straight line would be far above the parabola.
  for (const double rate : {0.013, 0.77 / squares, 0.999 / squares, 1.003 / squares, 1.9 / squares}) {
    Weights<double> W = moment.step.problem.at;
    W.front() -= rate * moment.step.gradient.front();
    CHECK(std::abs(loss_on_line(moment, rate) - moment.step.problem.loss(W)) <=
          exact_loss * moment.step.along.value);
  }
  REQUIRE(moment.outer);
  const Matrix<double>& S = moment.step.problem.at.front();
  CHECK(furthest_apart(moment.outer->error.transpose(), k * S - v) < exact_loss);
  CHECK(std::abs(moment.losses.front() - 0.5 * (k * S - v).squaredNorm()) < exact_loss);
  REQUIRE(moment.strength);
  CHECK(moment.strength->array == "beta");
  CHECK(moment.strength->per_rate == 1);
  CHECK(moment.strength->value == each.row("beta", token)(0, 0));
}

TEST_CASE("a wrong gradient is found by differences", "[moment]") {
  const Case each = random_case("deltanet", {.tokens = 4, .dk = 3, .dv = 4});
  LearningStep step = learning_at(*each.variant, each.sequence, 3).back();
  CHECK(check_gradient(step).error < 1e-8);
  step.gradient.front()(1, 2) += 0.1 * step.gradient.front().cwiseAbs().maxCoeff();
  CHECK(check_gradient(step).error > 0.05);
}

TEST_CASE("a network goes back to where it began at its true edge, not at the parabola's", "[moment]") {
  const Case each = random_case("ttt_mlp", {.tokens = 5, .dk = 4, .dv = 4});
  const LearningMoment moment = moment_of(each, 4);
  REQUIRE(moment.network);
  const LearningStep& step = moment.step;
  if (std::isfinite(moment.edge)) {
    const std::vector<double> there = losses_along(step, std::array{moment.edge});
    CHECK(std::abs(there.front() - step.along.value) <= exact_loss * std::max(1.0, step.along.value));
  }
  const Weights<double>& W = step.problem.at;
  const Matrix<double> answer = network_answers(W, true, std::nullopt, moment.network->key.transpose());
  CHECK(furthest_apart(answer.transpose(), moment.network->answer) < exact_loss);
  for (const StrongLink& path : moment.network->sent.in)
    CHECK(path.amount == moment.network->key[path.from] * W[0](path.from, path.to));
}

TEST_CASE("the gradients that run back through a network are those of its loss", "[moment]") {
  for (const char* layer_norm : {"false", "true"}) {
    CAPTURE(layer_norm);
    RandomCase random{.tokens = 5, .dk = 3, .dv = 3};
    const Case each = random_case(find_variant("ttt_mlp"), {.options = {{"layer_norm", layer_norm}}}, random);
    const LearningMoment moment = moment_of(each, 4);
    REQUIRE(moment.network);
    const NetworkPass& pass = *moment.network;
    const Matrix<double> k = each.row("k", 4);
    const Matrix<double> v = each.row("v", 4);
    const std::optional<LayerNorm<double>> norm = network_norm<double>(each.sequence);
    const auto error = [&](const Weights<double>& W) {
      return Matrix<double>(network_answers(W, true, norm, k) - v);
    };
    Weights<double> W = moment.step.problem.at;
    CHECK(furthest_apart(error(W).transpose(), pass.error) <= exact_loss);
    CHECK((pass.answer - pass.value - pass.error).cwiseAbs().maxCoeff() <= exact_loss);
    CHECK(pass.is_normalised() == norm.has_value());
    // Differences of the fourth order: what they cut off is (1e-3)^4 of a number of about 1.
    const double h = 1e-3;
    const auto slope = [&](double& weight) {
      const double before = weight;
      const auto loss = [&](double by) {
        weight = before + by;
        return error(W).squaredNorm() / 2;
      };
      const double by_one = (loss(h) - loss(-h)) / (2 * h);
      const double by_two = (loss(2 * h) - loss(-2 * h)) / (4 * h);
      weight = before;
      return (4 * by_one - by_two) / 3;
    };
    REQUIRE(pass.weight_gradients.size() == W.size());
    for (std::size_t m = 0; m < W.size(); ++m) {
      const Matrix<double>& G = pass.weight_gradients[m];
      REQUIRE(G.rows() == W[m].rows());
      REQUIRE(G.cols() == W[m].cols());
      const double size = G.cwiseAbs().maxCoeff();
      for (Index i = 0; i < W[m].size(); ++i)
        CHECK(std::abs(slope(W[m].data()[i]) - G.data()[i]) <= 1e-6 * size);
    }
    // A bias is added to what its units get, so its gradient is the one that reaches them.
    CHECK(furthest_apart(pass.weight_gradients[1].reshaped(), pass.hidden_gradient) <= exact_loss);
    CHECK(furthest_apart(pass.weight_gradients[3].reshaped(), pass.output_gradient) <= exact_loss);
    for (const StrongLink& path : pass.taught.out)
      CHECK(std::abs(path.amount - pass.hidden[path.from] * pass.output_gradient[path.to]) <= exact_loss);
  }
}

TEST_CASE("the gradients of a batch, each times eta and together times sigma, are the engine's step",
          "[moment]") {
  for (const char* layer_norm : {"false", "true"}) {
    for (const Index token : {0, 3, 5, 6}) {
      CAPTURE(layer_norm, token);
      Settings settings{.options = {{"layer_norm", layer_norm}}, .parameters = {{"batch", 4}}};
      const Case each = random_case(find_variant("ttt_mlp"), settings, {.tokens = 7, .dk = 5, .dv = 5});
      const LearningMoment moment = moment_of(each, token);
      const InnerProblem& problem = moment.step.problem;
      Weights<double> W = problem.at;
      for (Index j = problem.first_token; j <= token; ++j) {
        const NetworkPass pass = network_pass(*each.variant, each.sequence, j, problem.at);
        const double eta = each.row("eta", j)(0, 0);
        for (std::size_t m = 0; m < W.size(); ++m) W[m] -= problem.rate * eta * pass.weight_gradients[m];
      }
      const NamedStates states = states_at(*each.variant, each.sequence, token + 1);
      for (std::size_t m = 0; m < W.size(); ++m) {
        CAPTURE(problem.names[m]);
        CHECK(furthest_apart(W[m], state_of(states, problem.names[m])) <= exact_loss);
        CHECK((problem.from[m] + moment.written[m] - W[m]).cwiseAbs().maxCoeff() <= exact_loss);
      }
      const std::optional<LayerNorm<double>> norm = network_norm<double>(each.sequence);
      const Matrix<double> after = network_answers(W, true, norm, each.row("k", token));
      REQUIRE(moment.network_after);
      CHECK(furthest_apart(after.transpose(), moment.network_after->answer) <= exact_loss);
      for (const StrongLink& path : moment.network_step.in)
        CHECK(path.amount == moment.written[0](path.from, path.to));
    }
  }
}

TEST_CASE("what is remembered of a word is its own part of the answer", "[remembered]") {
  for (const char* id : {"gated_deltanet", "linear", "kda", "deltaproduct"}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 11, .dk = 6, .dv = 7});
    const std::vector<Index> tokens = {1, 4, 6};
    const std::vector<Index> moments = {0, 2, 5, 5, 7, 11};
    const Remembered known = remembered(*each.variant, each.sequence, tokens, moments);
    CHECK_FALSE(known.is_alignment);
    Matrix<double> K(3, 6);
    Matrix<double> V(3, 7);
    for (Index i = 0; i < 3; ++i) {
      const StoredPairs pair = stored_pairs(*each.variant, each.sequence, entry(tokens, i), 1);
      K.row(i) = pair.keys.bottomRows(1);
      V.row(i) = pair.values.bottomRows(1);
    }
    for (std::size_t m = 0; m < moments.size(); ++m) {
      const NamedStates states = states_at(*each.variant, each.sequence, moments[m]);
      const Matrix<double> S = states.front().second;
      for (Index i = 0; i < 3; ++i) {
        // Random values are far from alike: no singular value is cut off, and the parts solve least squares.
        const Vector<double> answer = (K.row(i) * S).transpose() / K.row(i).squaredNorm();
        const Vector<double> parts = V.transpose().colPivHouseholderQr().solve(answer);
        CHECK(std::abs(known.shares(i, static_cast<Index>(m)) - parts[i]) < exact_loss);
      }
    }
  }
  const Case network = random_case("ttt_mlp", {.tokens = 5, .dk = 4, .dv = 4});
  const auto ask = [&](Index token, const std::vector<Index>& moments) {
    return remembered(*network.variant, network.sequence, std::vector{token}, moments);
  };
  const Remembered aligned = ask(2, {5});
  CHECK(aligned.is_alignment);
  CHECK(std::abs(aligned.shares(0, 0)) <= 1 + exact_loss);
  CHECK_THROWS_AS(ask(5, {5}), InputError);
  CHECK_THROWS_AS(ask(2, {5, 4}), InputError);
}

TEST_CASE("how far words step is the learning rate times the curvature", "[reach]") {
  for (const char* id : {"gated_deltanet", "deltanet", "titans", "ttt_mlp", "kda"}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 8, .dk = 5, .dv = 5});
    const StepReach reach = step_reach(*each.variant, each.sequence);
    CHECK(reach.has_edge);
    for (Index t = 0; t < 8; ++t) {
      const LearningStep step = learning_at(*each.variant, each.sequence, t).back();
      REQUIRE(step.stability);
      CHECK(std::abs(reach.reach[t] - step.stability->reach) <=
            exact_loss * std::max(1.0, step.stability->reach));
    }
  }
  for (const char* id : {"mesanet", "mamba", "lact", "linear"}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 4, .dk = 3, .dv = 3});
    CHECK_FALSE(step_reach(*each.variant, each.sequence).has_edge);
  }
}

TEST_CASE("a rate that a rule makes of its strength and the key is what words step by", "[reach]") {
  const Case each = random_case("longhorn", {.tokens = 9, .dk = 5, .dv = 4});
  const StepReach reach = step_reach(*each.variant, each.sequence);
  CHECK(reach.array == "beta");
  CHECK(reach.symbol == "\\delta");
  for (Index t = 0; t < 9; ++t) {
    const double product =
        each.sequence.at("beta")(t, 0) * each.sequence.at("k").rows<double>(t, 1).squaredNorm();
    CHECK(std::abs(reach.reach[t] - product / (1 + product)) <= exact_loss);
  }
  for (const auto& [id, symbol] : {std::pair("kda", "\\beta"), std::pair("mamba", "\\Delta")}) {
    const Case other = random_case(id, {.tokens = 2, .dk = 1, .dv = 1});
    CHECK(step_reach(*other.variant, other.sequence).symbol == symbol);
  }
}

TEST_CASE("half of what is kept so is left after its half-life", "[keeping]") {
  for (const double kept : {0.2, 0.5, 0.98, 0.9999})
    CHECK(std::abs(std::pow(kept, half_life(kept)) - 0.5) < exact_loss);
  CHECK(half_life(1) == std::numeric_limits<double>::infinity());
  CHECK(half_life(0) == 0);
  CHECK(half_life(0.5) == 1);
  CHECK(std::abs(kept_for(half_life(0.9)) - 0.9) < exact_loss);
  CHECK(kept_for(0) == 0);
  const Case each = random_case("kda", {.tokens = 6, .dk = 3, .dv = 2});
  const auto all = keeping(*each.variant, each.sequence);
  REQUIRE(all);
  CHECK(all->channels == 3);
  Matrix<double> alpha = each.sequence.at("alpha").all<double>();
  if (each.sequence.gates_are_logs) alpha = alpha.array().exp().matrix();
  for (Index t = 0; t < 6; ++t) {
    CHECK(std::abs(all->mean[t] - std::cbrt(alpha.row(t).prod())) < exact_loss);
    CHECK(std::abs(all->least[t] - alpha.row(t).minCoeff()) < exact_loss);
    CHECK(std::abs(keeping(*each.variant, each.sequence, 1)->mean[t] - alpha(t, 1)) < exact_loss);
  }
  CHECK_THROWS_AS(keeping(*each.variant, each.sequence, 3), InputError);
  const auto left = kept_between(*each.variant, each.sequence, 1, 4);
  REQUIRE(left);
  const Vector<double> product =
      (alpha.row(2).array() * alpha.row(3).array() * alpha.row(4).array()).transpose();
  CHECK(left->channels == 3);
  CHECK(std::abs(left->least - product.minCoeff()) < exact_loss);
  CHECK(std::abs(left->most - product.maxCoeff()) < exact_loss);
  CHECK(std::abs(left->mean - std::cbrt(product.prod())) < exact_loss);
  CHECK(kept_between(*each.variant, each.sequence, 3, 3)->mean == 1);
  CHECK_THROWS_AS(kept_between(*each.variant, each.sequence, 4, 3), InputError);
  CHECK_THROWS_AS(kept_between(*each.variant, each.sequence, 0, 6), InputError);
  const Case without = random_case("deltanet", {.tokens = 4, .dk = 2, .dv = 2});
  CHECK_FALSE(keeping(*without.variant, without.sequence));
  // A gate of the value channels, and one decay for all tokens, make forget as well.
  const Case by_value = random_case("value_decay", {.tokens = 4, .dk = 3, .dv = 2});
  const auto values = keeping(*by_value.variant, by_value.sequence);
  REQUIRE(values);
  CHECK(values->array == "mu");
  CHECK(values->channels == 2);
  const Matrix<double> mu = by_value.sequence.at("mu").all<double>();
  CHECK(std::abs(values->least[2] - mu.row(2).minCoeff()) < exact_loss);
  const Case fixed = random_case("lightning", {.tokens = 4, .dk = 3, .dv = 2});
  const auto slope = keeping(*fixed.variant, fixed.sequence);
  REQUIRE(slope);
  CHECK(slope->array.empty());
  CHECK(keeping(*fixed.variant, fixed.sequence, 1)->mean == slope->mean);
  const Case of_tokens = random_case("scalar_decay", {.tokens = 4, .dk = 3, .dv = 2});
  CHECK_THROWS_AS(keeping(*of_tokens.variant, of_tokens.sequence, 1), InputError);
  CHECK(std::abs(slope->mean[3] - std::exp(-fixed.sequence.parameter("slope"))) < exact_loss);
  // A decay that no input holds, and one that a text computes and calls something else.
  const Case computed = random_case("longhorn", {.tokens = 4, .dk = 3, .dv = 2});
  const auto of_keys = keeping(*computed.variant, computed.sequence);
  REQUIRE(of_keys);
  CHECK(of_keys->channels == 3);
  const auto fades =
      key_decays(computed.variant->rule->row_program()->encode<double>(computed.sequence, 2, 1));
  CHECK(std::abs(of_keys->least[2] - fades.minCoeff()) < exact_loss);
  const Variant& written =
      written_rule("inputs x: number per token\nlambda = sigmoid(x)\nS = lambda^2 S + k v^T\no = S^T q")
          .variant;
  const Case own = random_case(written, {}, {.tokens = 4, .dk = 3, .dv = 2});
  const auto squared = keeping(written, own.sequence);
  REQUIRE(squared);
  CHECK(squared->array.empty());
  CHECK(std::abs(squared->mean[1] - std::pow(1 + std::exp(-own.sequence.at("x")(1, 0)), -2)) < exact_loss);
}

TEST_CASE("keys keep their cosines in three channels, and lie in their main directions", "[keys]") {
  Matrix<double> keys(4, 3);
  keys << 2, 0, 0, 0, 3, 0, 1, 1, 1, 0, 0, 0;
  const KeyDirections found = key_directions(keys);
  CHECK(std::abs(found.explained.sum() - 1) < exact_loss);
  CHECK(found.explained[0] >= found.explained[1]);
  CHECK(std::abs(found.points.row(0).norm() - 1) < exact_loss);
  CHECK(found.points.row(3).norm() == 0);
  CHECK(std::abs(found.points.row(0).dot(found.points.row(1))) < exact_loss);
  CHECK(std::abs(found.points.row(0).dot(found.points.row(2)) - 1 / std::sqrt(3.0)) < exact_loss);
  CHECK(key_directions(Matrix<double>::Zero(2, 1)).points.norm() == 0);
  CHECK(key_directions(Matrix<double>(0, 0)).points.rows() == 0);
}

TEST_CASE("a batch that is gathered is recalled once its last word has been", "[remembered]") {
  for (const char* order : {"apply_first", "update_first"}) {
    CAPTURE(order);
    const Case each = random_case(find_variant("lact"), {{{"order", order}}, {{"batch", 4}}},
                                  {.tokens = 11, .dk = 6, .dv = 4});
    const std::vector<Index> tokens = {1, 5};
    const std::vector<Index> moments = {0, 1, 3, 4, 6, 6, 7, 8, 10, 11};
    const Remembered known = remembered(*each.variant, each.sequence, tokens, moments);
    const auto at = [&](Index moment) { return Vector<double>(known.shares.col(moment)); };
    for (const Index moment : {1, 2}) CHECK(at(moment) == at(0));
    CHECK(at(3) != at(0));
    for (const Index moment : {4, 5, 6}) CHECK(at(moment) == at(3));
    CHECK(at(7) != at(3));
    CHECK(at(8) == at(7));
    CHECK(at(9) != at(7));  // the last batch ends with the sequence

    // What the recurrence has there is what is asked.
    const auto recurrence = each.trace(Form::recurrent, 1);
    for (std::size_t m = 0; m < moments.size(); ++m) {
      const NamedStates states = RecurrentMemory(*each.variant, each.sequence, *recurrence).after(moments[m]);
      const StoredPairs pair = stored_pairs(*each.variant, each.sequence, 5, 1);
      const Matrix<double> answer = memory_answers(*each.variant, each.sequence, states, pair.keys);
      const double lengths = answer.norm() * pair.values.norm();  // no row rule: directions are compared
      const double cosine = lengths > 0 ? answer.row(0).dot(pair.values.row(0)) / lengths : 0;
      CHECK(std::abs(known.shares(1, static_cast<Index>(m)) - cosine) < exact_loss);
    }

    for (const Index token : {4, 5, 7}) {
      const auto together = written_together(*each.variant, each.sequence, token);
      REQUIRE(together);
      CHECK(together->first == 4);
      CHECK(together->last == 7);
    }
    CHECK(written_together(*each.variant, each.sequence, 10)->last == 10);
    CHECK_THROWS_AS(written_together(*each.variant, each.sequence, 11), InputError);
  }
  for (const char* id : {"ttt_linear", "ttt_mlp", "gated_deltanet"}) {
    CAPTURE(id);
    const Settings settings =
        std::string_view(id) == "gated_deltanet" ? Settings{} : Settings{.parameters = {{"batch", 4}}};
    const Case each = random_case(find_variant(id), settings, {.tokens = 11, .dk = 4, .dv = 4});
    CHECK_FALSE(written_together(*each.variant, each.sequence, 5));
  }
}

TEST_CASE("too much of a value is as wrong as too little", "[remembered]") {
  using Row = std::array<double, 3>;
  for (const auto& [share, right, excess] : {Row{0, 0, 0},
                                             {0.75, 0.75, 0},
                                             {1, 1, 0},
                                             {1.75, 0.25, 0.75},
                                             {2.5, 0, 1},
                                             {-0.25, 0, 0.25},
                                             {-3, 0, 1},
                                             {quiet_nan, 0, 1}}) {
    CAPTURE(share);
    CHECK(recalled_part(share).right == right);
    CHECK(recalled_part(share).excess == excess);
  }
}

TEST_CASE("the first words beyond the edges are named, rounding of unit keys is not", "[reach]") {
  const auto edges = [](std::initializer_list<double> reach) {
    return reach_edges(Eigen::Map<const Vector<double>>(reach.begin(), std::ssize(reach)));
  };
  CHECK_FALSE(edges({}).overshoots);
  CHECK_FALSE(edges({0.2, 1.0000001, 0.7}).overshoots);
  const ReachEdges both = edges({0.2, 1.3, 0.7, 2.1, 2.5});
  CHECK(both.overshoots == 1);
  CHECK(both.diverges == 3);
  CHECK_FALSE(edges({1.5, 2}).diverges);
  CHECK(edges({0.5, std::nan("")}).diverges == 1);
}

TEST_CASE("the error beside a gradient is a difference only where the loss asks for the answer", "[moment]") {
  for (const auto& [id, is_difference] :
       {std::pair("linear", false), std::pair("deltanet", true), std::pair("gated_deltanet", true)}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 4, .dk = 5, .dv = 3});
    const LearningMoment moment = moment_of(each, 3, 5);
    REQUIRE(moment.outer);
    CHECK(moment.outer->is_difference == is_difference);
    const Matrix<double> v = each.row("v", 3);
    const Matrix<double> there =
        each.row("k", 3) * moment.step.problem.at.front() * (is_difference ? 1.0 : 0.0);
    CHECK(furthest_apart(moment.outer->error.transpose(), there - v) < exact_loss);
  }
}

TEST_CASE(
    "a plain step is a direction times what was missing, along the key unless a memory of keys turns it",
    "[moment]") {
  for (const auto& [id, along_key] :
       {std::pair("linear", true), std::pair("deltanet", true), std::pair("rls", false)}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 4, .dk = 5, .dv = 3});
    const LearningMoment moment = moment_of(each, 3, 5);
    const auto outer = written_outer(moment);
    REQUIRE(outer);
    CHECK(outer->along_key == along_key);
    CHECK(outer->error == -moment.outer->error);
    CHECK(furthest_apart(outer->key * outer->error.transpose(), moment.written.front()) < exact_loss);
    CHECK(outer->key.dot(moment.outer->key) > 0);
  }
  // With momentum the step is no longer that of one word.
  const Case titans = random_case("titans", {.tokens = 4, .dk = 5, .dv = 3});
  const LearningMoment moment = moment_of(titans, 3, 5);
  CHECK_FALSE(written_outer(moment));
}

TEST_CASE("only half the square of a miss is called an error", "[moment]") {
  for (const auto& [id, is_error] :
       {std::pair("deltanet", true), std::pair("gated_deltanet", true), std::pair("kda", true),
        std::pair("linear", false), std::pair("retnet", false), std::pair("scalar_decay", false)}) {
    CAPTURE(id);
    const Case each = random_case(id, {.tokens = 4, .dk = 5, .dv = 3});
    const LearningMoment moment = moment_of(each, 3, 5);
    CHECK(is_error_of_token(moment) == is_error);
  }
}
