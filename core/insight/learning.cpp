#include "core/insight/learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/insight/stability.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

Weights<double> difference(Weights<double> X, const Weights<double>& Y) {
  for (std::size_t i = 0; i < X.size(); ++i) X[i] -= Y[i];
  return X;
}

Weights<double> scaled(Weights<double> X, double factor) {
  for (Matrix<double>& matrix : X) matrix *= factor;
  return X;
}

bool is_plain(const InnerProblem& problem) {
  return !problem.muon && !problem.column_norm && problem.is_fresh();
}

/// Stability along one direction of curvature `sharpness` alone.
Stability along_one_direction(const InnerProblem& problem, double sharpness) {
  return {.sharpness = sharpness,
          .exact = false,
          .reach = problem.rate * sharpness,
          .eigenvalue = problem.kept - problem.rate * sharpness,
          .growth = growth(problem, sharpness),
          .largest_rate = largest_stable_rate(problem, sharpness)};
}

/// Nothing where the Hessian depends on the weights.
std::optional<Stability> exact_stability(const InnerProblem& problem) {
  const auto eigenvalues = hessian_eigenvalues(problem);
  if (!eigenvalues) return std::nullopt;
  std::complex<double> sharpest = 0;
  double largest_growth = 0;
  for (const std::complex<double>& value : *eigenvalues) {
    if (std::abs(value) > std::abs(sharpest)) sharpest = value;
    largest_growth = std::max(largest_growth, growth(problem, value));
  }
  return Stability{.sharpness = sharpest.real(),
                   .reach = problem.rate * sharpest.real(),
                   .eigenvalue = problem.kept - problem.rate * sharpest.real(),
                   .growth = largest_growth,
                   .largest_rate = largest_stable_rate(problem, sharpest)};
}

std::optional<Stability> stability(const InnerProblem& problem, double along_gradient) {
  if (!is_plain(problem)) return std::nullopt;
  const std::optional<Stability> exact = exact_stability(problem);
  return exact ? exact : along_one_direction(problem, along_gradient);
}

/// L(at - e G) and its derivatives by e at 0.
Jet line(const InnerProblem& problem, const Weights<double>& gradient) {
  return problem.loss(on_a_line(problem.at, scaled(gradient, -1)));
}

void require_token(const Sequence& sequence, Index token) {
  if (token < 0 || token >= sequence.tokens) {
    throw InputError(
        fmt::format("token {}; expected one of the {} tokens, counted from 0", token, sequence.tokens));
  }
}

void require_loss(const Variant& variant) {
  if (!variant.loss.problems)
    throw Unsupported(fmt::format("{} has no inner loss. {}", variant.id, variant.loss.words));
}

/// Calls `visit(context, after)` for every token; both hold during the call only.
void visit_contexts(const Variant& variant, const Sequence& sequence,
                    const std::function<bool(const InnerContext&, const NamedStates&)>& visit,
                    std::stop_token stop) {
  const Index batch = inner_batch(sequence.settings);
  NamedStates before;
  NamedStates batch_start;
  variant.rule->walk_states(
      sequence,
      [&](Index tokens, const NamedStates& states) {
        if (tokens > 0) {
          const InnerContext context{*variant.rule, sequence, tokens - 1, before, batch_start};
          if (!visit(context, states)) return false;
        }
        before = states;
        if (tokens % batch == 0) batch_start = states;
        return true;
      },
      std::move(stop));
}

}  // namespace

double norm(const Weights<double>& W) {
  double length = 0;
  for (const Matrix<double>& matrix : W) length = std::hypot(length, matrix.stableNorm());
  return length;
}

LearningStep learn(InnerProblem problem) {
  LearningStep step{.problem = std::move(problem)};
  const InnerProblem& given = step.problem;
  Record record;
  Recorder recorder(record);
  step.gradient = given.gradient(given.at);
  step.gradient_norm = norm(step.gradient);
  step.after = given.after(given.muon ? &recorder : nullptr);
  step.momentum_norm = norm(step.after.moving);
  step.loss_before = given.loss(given.from);
  step.loss_after = given.loss(step.after.weights);
  step.along = line(given, step.gradient);

  const double squares = step.gradient_norm * step.gradient_norm;
  const Weights<double> moved = difference(step.after.weights, given.from);
  if (squares > 0) step.taken = -dot(moved, step.gradient) / squares;
  if (const double length = norm(moved); length > 0) {
    step.off_axis = norm(difference(moved, scaled(step.gradient, -step.taken))) / length;
  }
  step.stability = stability(given, squares > 0 ? step.along.curvature / squares : 0);
  for (std::size_t i = 0; given.muon && i <= given.muon->size(); ++i)
    step.iterates.push_back(record.at(fmt::format("X_{}", i)));
  if (given.muon) step.singular_values = record.at("spectra");
  return step;
}

std::vector<LearningStep> learning_at(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop) {
  require_loss(variant);
  require_token(sequence, token);
  std::vector<LearningStep> steps;
  visit_contexts(
      variant, sequence,
      [&](const InnerContext& context, const NamedStates&) {
        if (context.token < token) return true;
        for (InnerProblem& problem : variant.loss.problems(context))
          steps.push_back(learn(std::move(problem)));
        return false;
      },
      std::move(stop));
  return steps;
}

std::optional<Stability> stability_at(const Variant& variant, const Sequence& sequence, Index token) {
  require_token(sequence, token);
  if (!variant.loss.problems) return std::nullopt;
  const NamedStates any_states = states_at(variant, sequence, 0);
  std::vector<InnerProblem> problems;
  try {
    problems = variant.loss.problems({*variant.rule, sequence, token, any_states, any_states});
  } catch (const Unsupported&) {  // this token has no loss
  }
  if (problems.empty() || !is_plain(problems.back())) return std::nullopt;
  return exact_stability(problems.back());
}

std::vector<double> losses_along(const LearningStep& step, std::span<const double> rates) {
  std::vector<double> losses;
  for (const double rate : rates)
    losses.push_back(step.problem.loss(difference(step.problem.at, scaled(step.gradient, rate))));
  return losses;
}

void visit_problems(const Variant& variant, const Sequence& sequence, const VisitProblems& visit,
                    std::stop_token stop) {
  visit_contexts(
      variant, sequence,
      [&](const InnerContext& context, const NamedStates& after) {
        std::vector<InnerProblem> problems;
        if (variant.loss.problems) {
          try {
            problems = variant.loss.problems(context);
          } catch (const Unsupported&) {  // not this token: said by learning_at
          }
        }
        return visit(context, problems, after);
      },
      std::move(stop));
}

std::vector<std::optional<LearningPoint>> learning_curve(const Variant& variant, const Sequence& sequence,
                                                         std::stop_token stop) {
  require_loss(variant);
  std::vector<std::optional<LearningPoint>> curve;
  visit_problems(
      variant, sequence,
      [&](const InnerContext&, const std::vector<InnerProblem>& problems, const NamedStates&) {
        curve.emplace_back();
        if (problems.empty()) return true;
        const InnerProblem& problem = problems.back();
        const Weights<double> gradient = problem.gradient(problem.at);
        const InnerProblem::After after = problem.after();
        const double squares = dot(gradient, gradient);
        curve.back() = {.loss_before = problem.loss(problem.from),
                        .loss_after = problem.loss(after.weights),
                        .gradient_norm = std::sqrt(squares),
                        .momentum_norm = norm(after.moving),
                        .rate = problem.rate,
                        .sharpness = squares > 0 ? line(problem, gradient).curvature / squares : 0};
        return true;
      },
      std::move(stop));
  return curve;
}

}  // namespace palimpsest
