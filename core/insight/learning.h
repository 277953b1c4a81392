#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/rules/inner_problem.h"

namespace palimpsest {

/// |W|, without the squares of large numbers.
double norm(const Weights<double>& W);

/// What a gradient step does to errors: how much every direction is multiplied with. Said of plain steps,
/// with or without momentum, whose gradient is taken where they start.
struct Stability {
  double sharpness = 0;   // the curvature of the loss in its sharpest direction: |k|^2 of one pair
  bool exact = true;      // false: of a network, along the gradient at these weights
  double reach = 0;       // rate sharpness, beta |k|^2: at 1 the step lands on its target, above 1 beyond it
  double eigenvalue = 1;  // of that direction without momentum, kept - reach: 1 - beta |k|^2
  double growth = 1;      // the largest modulus over all directions, momentum included; stable up to 1
  double largest_rate = 0;  // the largest learning rate with that direction stable; may be infinite
};

/// One step of inner learning in numbers.
struct LearningStep {
  InnerProblem problem;
  double loss_before = 0;  // at the weights that the step starts from
  double loss_after = 0;
  Weights<double> gradient = {};  // at problem.at
  double gradient_norm = 0;
  InnerProblem::After after = {};
  double momentum_norm = 0;  // |M| after the step; 0 for a rule without momentum
  Jet along = {};            // L(at - e G) as a function of e: its slope is -|G|^2
  double taken = 0;          // the e on that axis which the step comes nearest to
  double off_axis = 0;       // the share of the step that is not along the gradient: 0 for a plain step
  std::optional<Stability> stability = {};
  std::vector<Matrix<double>> iterates = {};  // of Newton-Schulz, the first one normalised; wide
  Matrix<double> singular_values = {};        // one column for each of them
};

/// The numbers of one step. A loss or weights that are not finite are handed on as they are.
LearningStep learn(InnerProblem problem);

/// The steps that `token` of one head makes, in f64 and at the engine's own states: several for a rule with
/// several steps per token; for a rule with inner batches the step of the batch so far (TTT) or of the whole
/// batch (LaCT). Throws Unsupported with the reason where a rule has no inner loss, InputError for a token
/// that does not exist, Cancelled.
std::vector<LearningStep> learning_at(const Variant& variant, const Sequence& sequence, Index token,
                                      std::stop_token stop = {});

/// What the last step of `token` does to errors, from the token's own numbers alone. Nothing where that
/// depends on the memory too (networks, Muon) or the token has no loss. Throws InputError for a token that
/// does not exist.
std::optional<Stability> stability_at(const Variant& variant, const Sequence& sequence, Index token);

/// L(at - e G) for every e of `rates`, G the gradient at problem.at.
std::vector<double> losses_along(const LearningStep& step, std::span<const double> rates);

/// Calls `visit(context, problems, after)` with the inner problems of every token and the engine's states
/// after it, until it returns false. Where a token has no loss, `problems` is empty. All hold during the call
/// only.
using VisitProblems = std::function<bool(
    const InnerContext& context, const std::vector<InnerProblem>& problems, const NamedStates& after)>;
void visit_problems(const Variant& variant, const Sequence& sequence, const VisitProblems& visit,
                    std::stop_token stop = {});

/// What the timeline shows of one token's last step.
struct LearningPoint {
  double loss_before = 0;
  double loss_after = 0;
  double gradient_norm = 0;
  double momentum_norm = 0;
  double rate = 0;
  double sharpness = 0;  // along the gradient: |k|^2 of one pair; 0 where the gradient is 0
};

/// One for every token; nothing where a token has no loss. Throws as learning_at does.
std::vector<std::optional<LearningPoint>> learning_curve(const Variant& variant, const Sequence& sequence,
                                                         std::stop_token stop = {});

}  // namespace palimpsest
