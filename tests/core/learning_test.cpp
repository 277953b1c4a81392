// Inner losses: their gradients, the steps on them, and when they run away.

#include "core/insight/learning.h"

#include <fmt/format.h>

#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"
#include "tests/apart.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

double largest(const Weights<double>& W) {
  double most = 0;
  for (const Matrix<double>& matrix : W)
    if (matrix.size() > 0) most = std::max(most, matrix.cwiseAbs().maxCoeff());
  return most;
}

/// How far the gradient is from the derivatives of the loss by every single weight, relative to the largest
/// of them: by jets, which are exact up to rounding, and by central differences of fourth order (Richardson).
struct GradientDeviation {
  double from_jets = 0;
  double from_differences = 0;
};

GradientDeviation gradient_deviation(const InnerProblem& problem) {
  const Weights<double> gradient = problem.gradient(problem.at);
  Weights<double> unit;
  for (const Matrix<double>& matrix : problem.at)
    unit.push_back(Matrix<double>::Zero(matrix.rows(), matrix.cols()));
  GradientDeviation deviation;
  double size = 0;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    for (Index cell = 0; cell < unit[i].size(); ++cell) {
      unit[i].data()[cell] = 1;
      const double exact = problem.loss(on_a_line(problem.at, unit)).slope;
      unit[i].data()[cell] = 0;
      const auto moved = [&](double by) {
        Weights<double> W = problem.at;
        W[i].data()[cell] += by;
        return problem.loss(W);
      };
      // A layer norm at equal channels bends within sqrt(ln_eps) = 1e-3: there only the finer step resolves
      // it.
      double off = std::numeric_limits<double>::infinity();
      for (const double h : {1e-3, 1e-4, 1e-5, 1e-6}) {
        const double difference = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
        off = std::min(off, std::abs(gradient[i].data()[cell] - difference));
      }
      size = std::max(size, std::abs(exact));
      deviation.from_jets = std::max(deviation.from_jets, std::abs(gradient[i].data()[cell] - exact));
      deviation.from_differences = std::max(deviation.from_differences, off);
    }
  }
  // A gradient of 0 everywhere (eta 0, the minimum) has no size of its own.
  const double scale = std::max(size, 1e-3);
  return {deviation.from_jets / scale, deviation.from_differences / scale};
}

/// The weights of a problem as the engine has them after `tokens` tokens, from a run of that many.
Weights<double> engine_weights(const Case& each, const InnerProblem& problem, const NamedStates& states) {
  Weights<double> weights;
  for (const std::string& name : problem.names) {
    const auto known = std::ranges::find(states, name, &NamedStates::value_type::first);
    if (known != states.end()) {
      weights.push_back(known->second);
    } else if (name.find(' ') != std::string::npos) {
      weights.push_back(program_state(states));
    } else {  // the memory is made from the states: asked for with every unit key
      const Index K = each.sequence.dk;
      weights.push_back(memory_answers(*each.variant, each.sequence, states, Matrix<double>::Identity(K, K)));
    }
  }
  return weights;
}

double step_deviation(const Case& each, const InnerProblem& problem) {
  const Index end = problem.first_token + problem.token_count;
  const Output output = first_tokens(each, end).run(Form::recurrent);
  const InnerProblem::After after = problem.after();
  const Weights<double> engine = engine_weights(each, problem, output.states);
  Weights<double> difference = after.weights;
  for (std::size_t i = 0; i < engine.size(); ++i) difference[i] -= engine[i];
  double deviation = largest(difference) / std::max(largest(engine), 1e-300);
  if (!after.moving.empty()) {
    const Matrix<double>& M = state_of(output.states, "M");
    deviation = std::max(deviation, largest({after.moving[0] - M}) / std::max(largest({M}), 1e-300));
  }
  return deviation;
}

/// Every case whose every token has a loss; the erase keys are made multiples of k.
std::vector<Case> learning_cases(RandomCase random) {
  std::vector<Case> cases;
  for (const Case& each : all_cases(random)) {
    if (!each.variant->loss.problems) continue;
    cases.push_back(changed(each, [](Arrays& arrays) {
      if (arrays.contains("p"))
        arrays["p"] = mapped<double>(arrays.at("k"), [](double x) { return 0.75 * x; });
      if (arrays.contains("erase_gate")) std::ranges::fill(numbers(arrays, "erase_gate"), 0.75);
    }));
  }
  return cases;
}

/// One head of deltanet or titans with one unit key over and over.
Case one_key(const char* id, Index tokens, const Arrays& others) {
  Arrays arrays = others;
  const auto repeated = [&](std::vector<double> row) {
    std::vector<double> values;
    for (Index t = 0; t < tokens; ++t) values.insert(values.end(), row.begin(), row.end());
    return Array({tokens, static_cast<Index>(row.size())}, values);
  };
  for (const char* name : {"q", "k"}) arrays[name] = repeated({0.6, 0.8});
  arrays["v"] = repeated({1, -2, 3});
  return bound(find_variant(id), resolve(find_variant(id), {}), std::move(arrays), id);
}

/// A term whose gradient is wrong by `factor`.
std::shared_ptr<const LossTerm> faulty(const std::shared_ptr<const LossTerm>& term, double factor) {
  LossTerm wrong = *term;
  wrong.gradient = [term, factor](const Weights<double>& W) {
    Weights<double> gradient = term->gradient(W);
    for (Matrix<double>& matrix : gradient) matrix *= factor;
    return gradient;
  };
  return std::make_shared<const LossTerm>(std::move(wrong));
}

}  // namespace

TEST_CASE("Jets carry the first two derivatives") {
  const auto check = [](auto function, double x, double first, double second) {
    const Jet y = function(Jet(x, 2, 0.5));
    // d/de f(x + 2e + e^2/4) = 2 f', its derivative 4 f'' + f'/2.
    CHECK(y.slope == Approx(2 * first).epsilon(1e-14));
    CHECK(y.curvature == Approx(4 * second + 0.5 * first).epsilon(1e-14));
  };
  check([](Jet x) { return x * x * x; }, 1.5, 3 * 1.5 * 1.5, 6 * 1.5);
  check([](Jet x) { return 1 / x; }, 1.5, -1 / 2.25, 2 / 3.375);
  check([](Jet x) { return sqrt(x); }, 4.0, 0.25, -1.0 / 32);
  const double t = std::tanh(0.3);
  check([](Jet x) { return tanh(x); }, 0.3, 1 - t * t, -2 * t * (1 - t * t));
}

TEST_CASE("Gradients of inner losses are their derivatives") {
  GradientDeviation worst;
  std::set<std::string> seen;
  for (const Index tokens : {1, 2, 17}) {
    for (const Case& each : learning_cases({.tokens = tokens, .dk = 5, .dv = 4, .seed = 3})) {
      INFO(each.words);
      seen.insert(each.variant->id);
      for (const Index token : std::set<Index>{0, tokens / 2, tokens - 1}) {
        for (const LearningStep& step : learning_at(*each.variant, each.sequence, token)) {
          INFO("token " << token);
          const GradientDeviation deviation = gradient_deviation(step.problem);
          // Jets: rounding of sums of some dozens of numbers. Differences: rounding of the loss over h.
          CHECK(deviation.from_jets < 1e-12);
          CHECK(deviation.from_differences < 1e-9);
          worst.from_jets = std::max(worst.from_jets, deviation.from_jets);
          worst.from_differences = std::max(worst.from_differences, deviation.from_differences);
          InnerProblem wrong = step.problem;
          wrong.terms[0].of = faulty(wrong.terms[0].of, 1 + 1e-6);
          const double fault =
              1e-6 * largest(wrong.terms[0].of->gradient(wrong.at)) / std::max(largest(step.gradient), 1e-3);
          if (fault > 1e-8) CHECK(gradient_deviation(wrong).from_differences > 1e-9);
        }
      }
    }
  }
  for (const Variant& each : variants()) CHECK(seen.contains(each.id) == bool(each.loss.problems));
  WARN(fmt::format("gradients: {:.1e} from jets, {:.1e} from differences", worst.from_jets,
                   worst.from_differences));
}

TEST_CASE("The step on the inner loss is the engine's own step") {
  double worst = 0;
  for (const Index tokens : {1, 2, 17, 65}) {
    for (const Case& each : learning_cases({.tokens = tokens, .dk = 5, .dv = 4, .seed = 5})) {
      INFO(each.words);
      for (const Index token : std::set<Index>{0, tokens / 2, tokens - 1}) {
        INFO("token " << token);
        const LearningStep step = learning_at(*each.variant, each.sequence, token).back();
        const double deviation = step_deviation(each, step.problem);
        // Newton-Schulz multiplies the rounding of the gradient, 485 times at most.
        CHECK(deviation < each.allowed(1e-12));
        worst = std::max(worst, deviation);
        const InnerLoss written = loss_of(*each.variant, each.sequence.settings);
        CHECK((written.step.find("NS") != std::string::npos) == step.problem.muon.has_value());
        CHECK((written.step.find("normalise") != std::string::npos) == step.problem.column_norm.has_value());
        if (each.variant->id == std::string("lact"))
          CHECK((written.latex.find("\\tfrac12") != std::string::npos) ==
                (each.sequence.option("loss") == "l2"));
        InnerProblem wrong = step.problem;
        wrong.rate *= 1 + 1e-6;
        const bool scale_free = wrong.muon.has_value();
        const double moved = 1e-6 * wrong.rate * largest(wrong.preconditioned_gradient(wrong.at));
        if (!scale_free && !wrong.column_norm && moved > 1e-8 * largest(step.after.weights))
          CHECK(step_deviation(each, wrong) > 1e-9);
      }
    }
  }
  WARN(fmt::format("steps: {:.1e} from the engine", worst));
}

TEST_CASE("A token without an inner loss says why") {
  const Case softmax = random_case("softmax", {.tokens = 2});
  CHECK_THROWS_WITH(learning_at(*softmax.variant, softmax.sequence, 0), says("No gradient step"));
  CHECK_THROWS_AS(learning_at(*softmax.variant, softmax.sequence, 0), Unsupported);
  for (const char* id : {"comba", "gated_deltanet2"}) {
    const Case each = random_case(id, {.tokens = 2});
    CHECK_THROWS_WITH(learning_at(*each.variant, each.sequence, 1), says("token 2: the erase key"));
  }
  const Case rwkv = changed(random_case("rwkv7", {.tokens = 2, .dk = 3, .dv = 2}), "a",
                            [](double a, std::size_t i) { return i == 4 ? 0 : a; });
  CHECK_NOTHROW(learning_at(*rwkv.variant, rwkv.sequence, 0));
  CHECK_THROWS_WITH(learning_at(*rwkv.variant, rwkv.sequence, 1), says("channel 2"));
  CHECK_THROWS_WITH(learning_at(*rwkv.variant, rwkv.sequence, 2), says("token 2; expected one of the 2"));
  CHECK_THROWS_AS(learning_at(*rwkv.variant, rwkv.sequence, -1), InputError);
  CHECK_THROWS_AS(learning_at(*rwkv.variant, rwkv.sequence, 1, stopped()), Cancelled);
}

TEST_CASE("Along the gradient the loss is what it is there") {
  for (const Case& each : learning_cases({.tokens = 9, .dk = 5, .dv = 4, .seed = 7})) {
    INFO(each.words);
    const LearningStep step = learning_at(*each.variant, each.sequence, 8).back();
    const double g2 = step.gradient_norm * step.gradient_norm;
    if (g2 == 0) continue;
    CHECK(step.along.slope == Approx(-g2).epsilon(1e-11));
    const std::vector<double> rates = {0, step.problem.rate, 0.25};
    const std::vector<double> losses = losses_along(step, rates);
    CHECK(losses[0] == Approx(step.along.value).epsilon(1e-12).margin(1e-14));
    // A plain step is the point at its own rate, and nothing of it lies off the axis.
    const bool preconditioned = std::ranges::any_of(
        step.problem.terms, [](const WeighedTerm& t) { return t.preconditioner.size() > 0; });
    const bool plain = step.problem.kept == 1 && !step.problem.muon && !step.problem.column_norm &&
                       step.problem.moving.empty() && step.problem.is_fresh() && !preconditioned;
    if (plain && step.problem.rate > 0) {
      CHECK(step.taken == Approx(step.problem.rate).epsilon(1e-8));
      CHECK(step.off_axis < 1e-7);
      CHECK(losses[1] == Approx(step.loss_after).epsilon(1e-10).margin(1e-12));
      CHECK(losses[2] != Approx(step.loss_after).epsilon(1e-10));
    }
    // Of a loss without kinks, the second difference is the curvature.
    const std::vector<double> h = {-1e-3, 0, 1e-3};
    const std::vector<double> around = losses_along(step, h);
    const double curvature = (around[0] - 2 * around[1] + around[2]) / 1e-6;
    CHECK(step.along.curvature == Approx(curvature).epsilon(2e-3).margin(1e-6 * std::max(1.0, g2)));
  }
}

TEST_CASE("Stability of one pair is 1 - beta |k|^2") {
  const Case each = with(random_case("deltanet", {.tokens = 1, .dk = 2, .dv = 3}),
                         {{"k", Array({1, 2}, std::vector<double>{3, 4})}, {"beta", filled({1}, 0.1)}});
  const LearningStep step = learning_at(*each.variant, each.sequence, 0).front();
  REQUIRE(step.stability);
  CHECK(step.stability->sharpness == Approx(25).epsilon(1e-14));
  CHECK(step.stability->eigenvalue == Approx(1 - 2.5).epsilon(1e-14));
  CHECK(step.stability->growth == Approx(1.5).epsilon(1e-14));
  CHECK(step.stability->largest_rate == Approx(2.0 / 25).epsilon(1e-14));
  CHECK(step.stability->exact);
  // The loss grows by the square of the eigenvalue.
  CHECK(step.loss_after == Approx(2.25 * step.loss_before).epsilon(1e-13));
}

TEST_CASE("A loss of one pair bends along its key and nowhere else") {
  const Case each = random_case("deltanet", {.tokens = 1, .dk = 9, .dv = 3});
  const LearningStep step = learning_at(*each.variant, each.sequence, 0).front();
  const auto eigenvalues = hessian_eigenvalues(step.problem);
  REQUIRE(eigenvalues);
  REQUIRE(eigenvalues->size() == 9);
  CHECK(std::ranges::count(*eigenvalues, std::complex<double>(0)) ==
        8);  // exactly, not up to the rounding of a solver
  CHECK(step.stability->sharpness ==
        Approx(each.sequence.at("k").rows<double>(0, 1).squaredNorm()).epsilon(2e-15));  // nine sums
}

TEST_CASE("The largest stable learning rate divides what settles from what runs away") {
  constexpr Index T = 400;
  const auto last_error = [](const char* id, const Arrays& others) {
    const Case each = one_key(id, T, others);
    const LearningStep step = learning_at(*each.variant, each.sequence, T - 1).back();
    return step.loss_after;
  };
  const auto limit = [](const char* id, const Arrays& others) {
    const Case each = one_key(id, 1, others);
    return learning_at(*each.variant, each.sequence, 0).back().stability->largest_rate;
  };
  const double beta = limit("deltanet", {{"beta", filled({1}, 1)}});
  CHECK(beta == Approx(2).epsilon(1e-14));
  CHECK(last_error("deltanet", {{"beta", filled({T}, 0.98 * beta)}}) < 1e-3);
  CHECK(last_error("deltanet", {{"beta", filled({T}, 1.02 * beta)}}) > 1e3);
  for (const double eta : {0.0, 0.5, 0.9}) {
    const auto others = [&](Index tokens, double theta) {
      return Arrays{{"eta", filled({tokens}, eta)},
                    {"forget", filled({tokens}, 0)},
                    {"theta", filled({tokens}, theta)}};
    };
    const double theta = limit("titans", others(1, 1));
    CHECK(theta == Approx(2 * (1 + eta)).epsilon(1e-14));
    CHECK(last_error("titans", others(T, 0.98 * theta)) < 1);
    CHECK(last_error("titans", others(T, 1.02 * theta)) > 10);
  }
}

TEST_CASE("Newton-Schulz shows its iterates and their singular values") {
  const Variant& lact = find_variant("lact");
  const Case each = random_case(lact, {{}, {{"batch", 8}}}, {.tokens = 20, .dk = 6, .dv = 4, .seed = 2});
  const LearningStep step = learning_at(lact, each.sequence, 9).front();
  CHECK(step.problem.first_token == 8);
  CHECK(step.problem.token_count == 8);
  REQUIRE(step.iterates.size() == 6);
  REQUIRE(step.singular_values.cols() == 6);
  for (Index i = 0; i < 6; ++i) {
    const Vector<double> own = singular_values(entry(step.iterates, i));
    CHECK((own - step.singular_values.col(i)).norm() < 1e-13);
  }
  CHECK(step.singular_values.col(0).norm() == Approx(1).epsilon(1e-6));
  CHECK(step.singular_values.col(5).minCoeff() > 0.6);
  CHECK(step.singular_values.col(5).maxCoeff() < 1.25);
  CHECK_FALSE(step.stability);
  CHECK(step.momentum_norm == Approx(step.after.moving[0].norm()));
}

TEST_CASE("A state that runs away is found at its token, with its cause") {
  const auto of = [](const Case& each) { return divergence(*each.variant, each.sequence); };
  CHECK_FALSE(of(one_key("deltanet", 200, {{"beta", filled({200}, 1.9)}})));
  CHECK_FALSE(of(one_key("linear", 300, {})));

  // Unit key, beta 2.5 from token 50 on: the error grows by 1.5 per token.
  Array beta = filled({200}, 1);
  for (std::size_t t = 50; t < 200; ++t) std::get<0>(beta.own_values())[t] = 2.5;
  // Something to amplify: the values change sign.
  const Case each = changed(one_key("deltanet", 200, {{"beta", beta}}), "v",
                            [](double v, std::size_t i) { return i % 2 == 0 ? -v : v; });
  const auto found = of(each);
  REQUIRE(found);
  CHECK(found->cause_token == 50);
  CHECK(found->eigenvalue == Approx(-1.5).epsilon(1e-12));
  CHECK(found->token > 55);
  CHECK(found->token < 75);
  CHECK(found->norm > 10 * found->reachable);
  CHECK_THAT(found->words, says("is 2.5, above the limit 2") && says("the step increases the error"));
  // The state before it has not run away, as the engine has it.
  CHECK(states_at(*each.variant, each.sequence, found->token)[0].second.norm() < found->norm);

  const Case grows = one_key("deltanet", 200, {{"beta", filled({200}, -0.3)}});
  REQUIRE(of(grows));
  CHECK_THAT(of(grows)->words, says("multiplies a direction"));
  CHECK(of(grows)->eigenvalue == Approx(1.3).epsilon(1e-12));
  CHECK(of(grows)->cause_token == 0);

  const Case overflow = changed(one_key("linear", 3, {}), [](Arrays& arrays) {
    numbers(arrays, "k")[2] = 1e200;
    numbers(arrays, "v")[3] = 1e200;
  });
  REQUIRE(of(overflow));
  CHECK_THAT(of(overflow)->words, says("exceed the range of f64"));
  CHECK(of(overflow)->token == 1);
}

TEST_CASE("A reach of 1 writes exactly, above 1 a write overshoots, above 2 by more than was wrong") {
  // What the window says beside its slider, asked of the engine: what the memory answers before and after.
  for (const double reach : {0.4, 1.0, 1.7, 2.0, 2.6}) {
    const Case each =  // the second value is another one
        changed(one_key("deltanet", 2, {{"beta", filled({2}, reach)}}), "v",
                [](double v, std::size_t i) { return i == 4 ? 7 : v; });
    const auto stability = stability_at(*each.variant, each.sequence, 1);
    REQUIRE(stability);
    CHECK(stability->reach == Approx(reach).epsilon(1e-13));
    const Matrix<double> k = each.sequence.at("k").rows<double>(1, 1);
    const Matrix<double> v = each.sequence.at("v").rows<double>(1, 1);
    const auto missed = [&](Index tokens) {
      return Matrix<double>(v - k * states_at(*each.variant, each.sequence, tokens)[0].second);
    };
    const Matrix<double> before = missed(1);
    const Matrix<double> after = missed(2);
    INFO(reach);
    // A unit in the last place per product and sum of two channels, relative to the largest value 7.
    CHECK(furthest_apart(after, (1 - reach) * before) < 1e-14);
    const double turned = (after.array() * before.array()).sum();
    if (reach > 1) {
      CHECK(turned < 0);
    } else {
      CHECK(turned > -1e-13);
    }
    CHECK((after.norm() > before.norm() + 1e-13) == (reach > 2));
  }
}

TEST_CASE("What a step does to errors follows from its token's own numbers") {
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "value_decay_delta", "two_sided_delta"}) {
    const Case each = random_case(id, {.tokens = 7, .dk = 5, .dv = 3, .initial_state = true});
    INFO(each.words);
    for (const Index token : {0, 3, 6}) {
      const auto stability = stability_at(*each.variant, each.sequence, token);
      REQUIRE(stability);
      const double beta = each.sequence.at("beta")(token, 0);
      const double squares = each.sequence.at("k").rows<double>(token, 1).squaredNorm();
      CHECK(stability->reach == Approx(beta * squares).epsilon(1e-13));
      CHECK(stability->largest_rate * stability->sharpness == Approx(2).epsilon(1e-13));
      // Wherever the memory is by then, the step's own stability is the same.
      const LearningStep step = learning_at(*each.variant, each.sequence, token).back();
      CHECK(stability->reach == step.problem.rate * step.stability->sharpness);
      CHECK(stability->eigenvalue == step.stability->eigenvalue);
      CHECK(stability->growth == step.stability->growth);
    }
  }
  for (const auto& [id, batch] : {std::pair("lact", 4), {"ttt_mlp", 4}, {"comba", 1}, {"softmax", 1}}) {
    const Settings given = batch > 1 ? Settings{{}, {{"batch", batch}}} : Settings{};
    const Case each = random_case(find_variant(id), given, {.tokens = 5});
    CHECK_FALSE(stability_at(*each.variant, each.sequence, 4));
  }
  const Case curl = random_case("comba", {.tokens = 3});
  CHECK_THROWS_AS(stability_at(*curl.variant, curl.sequence, 3), InputError);
}

TEST_CASE("A row program runs away where its own steps, one by one, say so") {
  for (const char* id : {"deltanet", "gated_deltanet", "kda", "deltaproduct"}) {
    const RandomCase random{.tokens = 67, .dk = 5, .dv = 3, .initial_state = true};
    const Case each =
        changed(random_case(id, random), "beta", [](double beta, std::size_t) { return 6 * beta + 3; });
    INFO(each.words);
    const auto found = divergence(*each.variant, each.sequence);
    REQUIRE(found);
    CHECK_THAT(found->words, says("the step increases the error"));
    CHECK(found->cause_token <= found->token);

    // The norm at the start and of every step from an empty memory.
    double reachable = 0;
    double norm = 0;
    Index ran_away = -1;
    visit_contexts(*each.variant, each.sequence, [&](const InnerContext& context, const NamedStates& after) {
      if (context.token == 0) reachable = context.before[0].second.norm();
      for (InnerProblem empty : problems_of(*each.variant, context)) {
        empty.at[0].setZero();
        empty.from = empty.at;
        reachable += empty.after().weights[0].norm();
      }
      norm = after[0].second.norm();
      if (norm > 10 * reachable) ran_away = context.token;
      return ran_away < 0;
    });
    CHECK(found->token == ran_away);
    CHECK(found->norm == Approx(norm).epsilon(1e-12));
    CHECK(found->reachable == Approx(reachable).epsilon(1e-12));
  }
}

TEST_CASE("What only learns does not run away") {
  for (const Index tokens : {1, 65}) {
    for (const Case& each : all_cases({.tokens = tokens, .dk = 5, .dv = 4, .seed = 11})) {
      if (each.variant->memory.none.empty() == false) continue;
      INFO(each.words);
      CHECK_FALSE(divergence(*each.variant, each.sequence));
    }
  }
}

TEST_CASE("The learning curve is learning_at at every token") {
  for (const char* id : {"kda", "titans", "ttt_mlp"}) {
    const Case each = random_case(id, {.tokens = 7, .dk = 3, .dv = 2});
    INFO(each.words);
    const auto curve = learning_curve(*each.variant, each.sequence);
    REQUIRE(curve.size() == 7);
    for (Index token = 0; token < 7; ++token) {
      const LearningStep step = learning_at(*each.variant, each.sequence, token).back();
      const auto& point = entry(curve, token);
      REQUIRE(point);
      CHECK(point->loss_before == step.loss_before);
      CHECK(point->loss_after == step.loss_after);
      CHECK(point->gradient_norm == Approx(step.gradient_norm).epsilon(1e-14));
      CHECK(point->momentum_norm == step.momentum_norm);
    }
  }
  const Case comba = random_case("comba", {.tokens = 3});
  CHECK_FALSE(learning_curve(*comba.variant, comba.sequence)[1]);
}
