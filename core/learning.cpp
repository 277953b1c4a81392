#include "core/learning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/stability.h"
#include "core/stored_pairs.h"

namespace palimpsest {

namespace {

/// |W|, without the squares of large numbers.
double norm(const Weights<double>& W) {
  double length = 0;
  for (const Matrix<double>& matrix : W) length = std::hypot(length, matrix.stableNorm());
  return length;
}

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
          .eigenvalue = problem.kept - problem.rate * sharpness,
          .growth = growth(problem, sharpness),
          .largest_rate = largest_stable_rate(problem, sharpness)};
}

std::optional<Stability> stability(const InnerProblem& problem, double along_gradient) {
  if (!is_plain(problem)) return std::nullopt;
  const auto eigenvalues = hessian_eigenvalues(problem);
  if (!eigenvalues) return along_one_direction(problem, along_gradient);
  std::complex<double> sharpest = 0;
  double largest_growth = 0;
  for (const std::complex<double>& value : *eigenvalues) {
    if (std::abs(value) > std::abs(sharpest)) sharpest = value;
    largest_growth = std::max(largest_growth, growth(problem, value));
  }
  return Stability{.sharpness = sharpest.real(),
                   .eigenvalue = problem.kept - problem.rate * sharpest.real(),
                   .growth = largest_growth,
                   .largest_rate = largest_stable_rate(problem, sharpest)};
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

namespace {

/// The norm of what a step would write into an empty memory.
double written(const InnerProblem& problem) {
  InnerProblem alone = problem;
  alone.momentum = 0;
  for (Matrix<double>& matrix : alone.at) matrix.setZero();
  alone.from = alone.at;
  return norm(alone.after().weights);
}

/// What is compared with it: what the steps so far have written. The problems of one batch replace each
/// other.
class Reachable {
 public:
  void add(Index group, double amount) {
    if (group != group_) earlier_ += std::exchange(latest_, 0);
    group_ = group;
    latest_ = amount;
  }
  double total() const { return earlier_ + latest_; }

 private:
  Index group_ = -1;
  double earlier_ = 0;
  double latest_ = 0;
};

double norm(const NamedStates& states) {
  double length = 0;
  for (const auto& [name, state] : states) length = std::hypot(length, state.stableNorm());
  return length;
}

/// The first step up to `last` that multiplies some direction by more than 1.
void find_cause(const Variant& variant, const Sequence& sequence, Index last, Divergence& found,
                std::stop_token stop) {
  constexpr double rounding = 1e-9;
  bool blamed = false;
  visit_problems(
      variant, sequence,
      [&](const InnerContext& context, const std::vector<InnerProblem>& problems, const NamedStates&) {
        const Index token = context.token;
        for (const InnerProblem& problem : problems) {
          if (!is_plain(problem)) continue;
          const Weights<double> gradient = problem.gradient(problem.at);
          const double squares = dot(gradient, gradient);
          const auto step = stability(problem, squares > 0 ? line(problem, gradient).curvature / squares : 0);
          if (!(step->growth > 1 + rounding)) continue;
          blamed = true;
          found.cause_token = token;
          found.eigenvalue = step->eigenvalue;
          const bool overshoots = step->eigenvalue < -1;
          found.cause = overshoots ? Cause::overshoots : Cause::grows;
          if (!overshoots && step->eigenvalue <= 1) found.eigenvalue = step->growth;
          found.words =
              overshoots
                  ? fmt::format(
                        "learning rate times curvature is {:.3g} at token {}, more than {:.3g}: the step "
                        "lands beyond its target by more than it had missed it",
                        problem.rate * step->sharpness, token, (1 + problem.kept) * (1 + problem.momentum))
                  : fmt::format("the step of token {} multiplies a direction of the memory by {:.3g}", token,
                                found.eigenvalue);
          return false;
        }
        return token < last;
      },
      std::move(stop));
  if (blamed) return;
  found.cause_token = found.token;
  found.eigenvalue = 1;
  found.cause = std::isfinite(found.norm) ? Cause::together : Cause::overflow;
  found.words = found.cause == Cause::overflow
                    ? fmt::format("the numbers of token {} leave the range of doubles", found.token)
                    : "no step by itself leaves its stable band: they grow one after the other";
}

}  // namespace

std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence, double factor,
                                     std::stop_token stop) {
  if (!(factor >= 1)) throw InputError(fmt::format("the factor is {}; expected at least 1", factor));
  std::optional<Divergence> found;
  Reachable reachable;
  std::optional<double> start;
  visit_problems(
      variant, sequence,
      [&](const InnerContext& context, const std::vector<InnerProblem>& problems, const NamedStates& states) {
        const Index token = context.token;
        double now = norm(states);
        if (problems.empty()) {
          const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
          if (!start) start = norm(context.before);
          reachable.add(token, norm({pair.keys}) * norm({pair.values}));
        } else {
          if (!start) start = norm(problems.front().from);
          double writes = 0;
          for (const InnerProblem& problem : problems) writes += written(problem);
          reachable.add(problems.front().first_token, writes);
          if (std::isfinite(now)) now = norm(problems.back().after().weights);
        }
        const double limit = *start + reachable.total();
        if (std::isfinite(now) && now <= factor * limit) return true;
        found = Divergence{.token = token, .norm = now, .reachable = limit};
        return false;
      },
      stop);
  if (found) find_cause(variant, sequence, found->token, *found, stop);
  return found;
}

}  // namespace palimpsest
