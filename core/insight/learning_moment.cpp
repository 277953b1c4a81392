#include "core/insight/learning_moment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/insight/step_reach.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr double beyond = 1.2;       // times the edge, or what is taken: where the picture ends
constexpr double same_outer = 1e-9;  // of the gradient's norm: rounding of k (S^T k - v)^T
constexpr int halvings = 60;         // of an interval: down to rounding
constexpr double infinity = std::numeric_limits<double>::infinity();

double loss_at(const LearningStep& step, double rate) { return losses_along(step, std::array{rate}).front(); }

/// The key of the token's last pair, if the whole gradient lies along it.
std::optional<OuterGradient> outer_gradient(const Variant& variant, const Sequence& sequence, Index token,
                                            const LearningStep& step) {
  if (step.problem.token_count != 1 || step.gradient.size() != 1 || !(step.gradient_norm > 0))
    return std::nullopt;
  Vector<double> key;
  try {
    key = stored_pairs(variant, sequence, token, 1).keys.bottomRows(1).transpose();
  } catch (const Unsupported&) {  // no memory to ask
    return std::nullopt;
  }
  const Matrix<double>& G = step.gradient.front();
  const double squares = key.squaredNorm();
  if (key.size() != G.rows() || !(squares > 0)) return std::nullopt;
  OuterGradient outer{key, G.transpose() * key / squares};
  const double rest = (G - outer.key * outer.error.transpose()).norm();
  if (!(rest <= same_outer * step.gradient_norm)) return std::nullopt;
  // Only a loss that asks for the answer curves along the key.
  outer.is_difference = std::ranges::any_of(step.problem.terms, [&](const WeighedTerm& term) {
    const std::optional<Hessian> hessian = term.of->hessian(step.problem.at);
    return !hessian || !hessian->keys.isZero(0);
  });
  return outer;
}

double parabola_edge(const Jet& along) {
  return along.curvature > 0 && along.slope < 0 ? -2 * along.slope / along.curvature : infinity;
}

/// Where a loss that is no parabola is back where it began, looked for up to `furthest`.
double true_edge(const LearningStep& step, double furthest) {
  constexpr int pieces = 64;
  double below = 0;
  double above = infinity;
  for (int i = 1; i <= pieces && above == infinity; ++i) {
    const double rate = furthest * i / pieces;
    (loss_at(step, rate) > step.along.value ? above : below) = rate;
  }
  for (int i = 0; i < halvings && above < infinity; ++i) {
    const double middle = (below + above) / 2;
    (loss_at(step, middle) > step.along.value ? above : below) = middle;
  }
  return above;
}

double last_rate(const LearningMoment& moment) {
  // A step that nobody can make longer is looked at alone where its edge is far away.
  constexpr double far = 12;
  if (!moment.strength && moment.step.taken > 0 && moment.edge > far * moment.step.taken)
    return 2 * beyond * moment.step.taken;
  double last = std::max(moment.step.taken, moment.step.problem.rate);
  for (const double edge : {moment.edge, moment.parabola_edge}) {
    if (std::isfinite(edge)) last = std::max(last, edge);
  }
  if (moment.edge == infinity && moment.parabola_edge == infinity) last *= 2;
  return std::isfinite(last) && last > 0 ? beyond * last : 1;
}

Weights<double> written_weights(const LearningStep& step) {
  Weights<double> written = step.after.weights;
  for (std::size_t i = 0; i < written.size(); ++i) written[i] -= step.problem.kept * step.problem.from[i];
  return written;
}

/// Rates are a number of their own (beta, theta), or weigh the pairs of the loss (eta of inner batches).
std::optional<LearningMoment::Strength> strength_of(const Variant& variant, const Sequence& sequence,
                                                    Index token, const LearningStep& step) {
  const std::optional<std::string> array = strength_array(variant);
  if (!array || !sequence.has(*array)) return std::nullopt;
  const Matrix<double> row = sequence.at(*array).rows<double>(token, 1);
  LearningMoment::Strength strength{.array = *array, .value = row(0, row.cols() - 1)};
  strength.channel = row.cols() - 1;
  const bool has_rate = step.problem.rate == strength.value;
  const bool weighs = *array == "eta" && row.cols() == 1 && step.problem.rate > 0;
  if (!has_rate && !weighs) return std::nullopt;
  if (!has_rate && strength.value > 0) strength.per_rate = strength.value / step.problem.rate;
  return strength;
}

}  // namespace

GradientCheck check_gradient(const LearningStep& step, Index places, std::stop_token stop) {
  const Weights<double>& G = step.gradient;
  Index total = 0;
  double largest = 0;
  double size = 1;
  for (std::size_t i = 0; i < G.size(); ++i) {
    total += G[i].size();
    if (G[i].size() == 0) continue;
    largest = std::max(largest, G[i].cwiseAbs().maxCoeff());
    size = std::max(size, step.problem.at[i].cwiseAbs().maxCoeff());
  }
  GradientCheck check{.places = std::min(places, total)};
  // The cube root of the rounding: where what is cut off and what is rounded off are alike.
  const double h = std::cbrt(std::numeric_limits<double>::epsilon()) * size;
  Weights<double> W = step.problem.at;
  for (Index place = 0; place < check.places; ++place) {
    stop_if_asked(stop);
    Index cell = place * total / check.places;
    std::size_t matrix = 0;
    while (cell >= W[matrix].size()) cell -= W[matrix++].size();
    double& weight = W[matrix].data()[cell];
    const double before = weight;
    weight = before + h;
    const double up = step.problem.loss(W);
    weight = before - h;
    const double down = step.problem.loss(W);
    weight = before;
    check.error = std::max(check.error, std::abs((up - down) / (2 * h) - G[matrix].data()[cell]));
  }
  if (largest > 0) check.error /= largest;
  return check;
}

double loss_on_line(const LearningMoment& moment, double rate) {
  const auto after = std::ranges::upper_bound(moment.rates, rate);
  if (after == moment.rates.begin() || after == moment.rates.end()) {
    const Jet& along = moment.step.along;
    return rate == moment.rates.back() ? moment.losses.back()
                                       : along.value + along.slope * rate + along.curvature * rate * rate / 2;
  }
  // Newton's parabola through the two points around it and a third: most losses are parabolas, and near
  // their floor a straight line would be far above them.
  const auto i = static_cast<std::size_t>(after - moment.rates.begin());
  const std::size_t third = i + 1 < moment.rates.size() ? i + 1 : i < 2 ? i : i - 2;
  const auto slope = [&](std::size_t a, std::size_t b) {
    return (moment.losses[b] - moment.losses[a]) / (moment.rates[b] - moment.rates[a]);
  };
  const double first = slope(i - 1, i);
  const double bend =
      third == i ? 0 : (slope(i, third) - first) / (moment.rates[third] - moment.rates[i - 1]);
  return moment.losses[i - 1] + (rate - moment.rates[i - 1]) * (first + bend * (rate - moment.rates[i]));
}

bool is_error_of_token(const LearningMoment& moment) {
  if (moment.step.problem.token_count > 1 || !moment.outer || !moment.outer->is_difference) return false;
  const double half = moment.outer->error.squaredNorm() / 2;
  constexpr double rounding = 1e-9;  // of sums of products of some hundred channels, and to spare
  return std::abs(half - moment.step.along.value) <= rounding * std::max(half, moment.step.along.value);
}

std::optional<LearningMoment> learning_moment(const Variant& variant, const Sequence& sequence, Index token,
                                              Index count, std::stop_token stop) {
  std::vector<LearningStep> steps = learning_at(variant, sequence, token, stop);
  if (steps.empty()) return std::nullopt;
  LearningMoment moment{
      .token = token, .step_count = static_cast<Index>(steps.size()), .step = std::move(steps.back())};
  const LearningStep& step = moment.step;
  moment.edge = moment.parabola_edge = parabola_edge(step.along);
  const bool is_parabola = !step.stability || step.stability->exact;
  if (!is_parabola)
    moment.edge = true_edge(step, std::isfinite(moment.parabola_edge) ? 4 * moment.parabola_edge : 4.0);
  moment.strength = strength_of(variant, sequence, token, step);
  const double last = last_rate(moment);
  for (Index i = 0; i < count; ++i)
    moment.rates.push_back(last * static_cast<double>(i) / static_cast<double>(count - 1));
  moment.losses = losses_along(step, moment.rates);
  moment.check = check_gradient(step, 200, stop);
  moment.outer = outer_gradient(variant, sequence, token, step);
  moment.written = written_weights(step);
  if (step.problem.at.size() == 4) {
    moment.network = network_pass(variant, sequence, token, step.problem.at);
    moment.network_after = network_pass(variant, sequence, token, step.after.weights);
    moment.network_step = strongest_paths(moment.written[0], moment.written[2]);
  }
  return moment;
}

}  // namespace palimpsest
