#include "core/insight/learning.h"

#include "core/base/refuse.h"
#include "core/engines/inner_network.h"
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

Stability stability_along(const InnerProblem& problem, std::complex<double> sharpest, double growth) {
  const double reach = problem.rate * sharpest.real();
  return {.sharpness = sharpest.real(),
          .reach = reach,
          .eigenvalue = problem.kept - reach,
          .growth = growth,
          .largest_rate = largest_stable_rate(problem, sharpest)};
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
  return stability_along(problem, sharpest, largest_growth);
}

/// Where it is not exact, along one direction of curvature `sharpness` alone.
std::optional<Stability> stability(const InnerProblem& problem, double sharpness) {
  if (!is_plain(problem)) return std::nullopt;
  if (const std::optional<Stability> exact = exact_stability(problem)) return exact;
  Stability along = stability_along(problem, sharpness, growth(problem, sharpness));
  along.exact = false;
  return along;
}

/// L(at - e G) and its derivatives by e at 0.
Jet line(const InnerProblem& problem, const Weights<double>& gradient) {
  return problem.loss(on_a_line(problem.at, scaled(gradient, -1)));
}

void require_loss(const Variant& variant) {
  if (!variant.loss.problems)
    throw Unsupported(fmt::format("{} has no inner loss. {}", variant.id, variant.loss.words));
}

/// The engine's record of one pair at the start of a batch: its gradient sums are the gradients of the pair.
Record engine_record(const StoredPairs& pair, const Weights<double>& W,
                     const std::optional<LayerNorm<double>>& norm) {
  Carried<double> carried = {W[0], W[1].transpose(), W[2], W[3].transpose()};
  for (std::size_t parameter = 0; parameter < W.size(); ++parameter)
    carried.push_back(Matrix<double>::Zero(carried[parameter].rows(), carried[parameter].cols()));
  const Matrix<double> key = pair.keys.bottomRows(1);
  const Vector<double> one = Vector<double>::Ones(1);
  NetworkRows<double> rows = {key, key, pair.values.bottomRows(1), one, one};
  rows.network = std::make_shared<const InnerNetwork<double>>(NetworkPlan{{"W1", "W2"}, {"b1", "b2"}}, norm);
  Record record;
  Recorder recorder(record);
  compute_block<double>({.form = Form::recurrent, .tap = &recorder}, rows, carried);
  return record;
}

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
  outer.is_difference = false;
  for (const WeighedTerm& term : step.problem.terms) {
    const std::optional<Hessian> hessian = term.of->hessian(step.problem.at);
    if (!hessian) return std::nullopt;  // the key's factor is no prediction minus its target
    // Only a loss of prediction - target has curvature along the key.
    outer.is_difference = outer.is_difference || !hessian->keys.isZero(0);
  }
  return outer;
}

/// The rate at which a loss that is no parabola returns to its initial value, searched up to `furthest`.
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
  // Without a rate to change, the picture shows only the step if its edge is far away.
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

/// The rate is an input of its own (beta, theta), or the weight of the pairs in the loss (eta of batches).
std::optional<LearningMoment::Strength> strength_of(const Variant& variant, const Sequence& sequence,
                                                    Index token, const LearningStep& step) {
  const std::optional<std::string> array = strength_array(variant);
  if (!array || !sequence.has(*array)) return std::nullopt;
  const Matrix<double> row = sequence.at(*array).rows<double>(token, 1);
  LearningMoment::Strength strength{.array = *array,
                                    .symbol = input_symbol(variant, sequence.settings, *array),
                                    .value = row(0, row.cols() - 1),
                                    .channel = row.cols() - 1};
  const bool has_rate = step.problem.rate == strength.value;
  const bool weighs = *array == "eta" && row.cols() == 1 && step.problem.rate > 0;
  if (!has_rate && !weighs) return std::nullopt;
  if (!has_rate && strength.value > 0) strength.per_rate = strength.value / step.problem.rate;
  return strength;
}

/// The strongest paths through both layers, [K, H] and [H, V].
NetworkPaths strongest_paths(const Matrix<double>& in, const Matrix<double>& out) {
  constexpr std::size_t count = 96;
  return {strong_links(in, count), strong_links(out, count)};
}

constexpr double same_up_to = 1e-9;  // of the norms: rounding

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
  require_token(token, sequence.tokens);
  std::vector<LearningStep> steps;
  const auto visit = [&](const InnerContext& context, const NamedStates&) {
    if (context.token < token) return true;
    for (InnerProblem& problem : variant.loss.problems(context)) steps.push_back(learn(std::move(problem)));
    return false;
  };
  visit_contexts(variant, sequence, visit, std::move(stop));
  return steps;
}

std::optional<Stability> stability_at(const Variant& variant, const Sequence& sequence, Index token) {
  require_token(token, sequence.tokens);
  if (!variant.loss.problems) return std::nullopt;
  const NamedStates any_states = states_at(variant, sequence, 0);
  const auto problems = problems_of(variant, {*variant.rule, sequence, token, any_states, any_states});
  if (problems.empty() || !is_plain(problems.back())) return std::nullopt;
  return exact_stability(problems.back());
}

std::vector<double> losses_along(const LearningStep& step, std::span<const double> rates) {
  return made_of(rates, [&](double rate) {
    return step.problem.loss(difference(step.problem.at, scaled(step.gradient, rate)));
  });
}

void visit_contexts(const Variant& variant, const Sequence& sequence, const VisitContexts& visit,
                    std::stop_token stop) {
  const Index batch = inner_batch(sequence.settings);
  NamedStates before;
  NamedStates batch_start;
  const auto visit_states = [&](Index tokens, const NamedStates& states) {
    if (tokens > 0 && !visit({*variant.rule, sequence, tokens - 1, before, batch_start}, states))
      return false;
    before = states;
    if (tokens % batch == 0) batch_start = states;
    return true;
  };
  variant.rule->walk_states(sequence, visit_states, std::move(stop));
}

std::vector<InnerProblem> problems_of(const Variant& variant, const InnerContext& context) try {
  return variant.loss.problems ? variant.loss.problems(context) : std::vector<InnerProblem>();
} catch (const Unsupported&) {  // why: said by learning_at
  return {};
}

std::vector<std::optional<LearningPoint>> learning_curve(const Variant& variant, const Sequence& sequence,
                                                         std::stop_token stop) {
  require_loss(variant);
  std::vector<std::optional<LearningPoint>> curve;
  const auto visit = [&](const InnerContext& context, const NamedStates&) {
    curve.emplace_back();
    const std::vector<InnerProblem> problems = problems_of(variant, context);
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
  };
  visit_contexts(variant, sequence, visit, std::move(stop));
  return curve;
}

std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count) {
  std::vector<StrongLink> links;
  for (Index i = 0; i < amounts.rows(); ++i) {
    for (Index j = 0; j < amounts.cols(); ++j) {
      const double amount = amounts(i, j);
      if (amount != 0 && std::isfinite(amount)) links.push_back({i, j, amount});
    }
  }
  const auto is_stronger = [](const StrongLink& a, const StrongLink& b) {
    return std::abs(a.amount) > std::abs(b.amount);
  };
  const std::size_t kept = std::min(count, links.size());
  std::ranges::partial_sort(links, links.begin() + static_cast<std::ptrdiff_t>(kept), is_stronger);
  links.resize(kept);
  std::ranges::reverse(links);
  return links;
}

NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W) {
  if (W.size() != 4) refuse("a network of one hidden layer has the weights W1, b1, W2, b2");
  const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
  const std::optional<LayerNorm<double>> norm = network_norm<double>(sequence);
  const Record record = engine_record(pair, W, norm);
  NetworkPass pass{.key = pair.keys.bottomRows(1).transpose(),
                   .hidden = record.at("h"),
                   .output = record.at("y"),
                   .answer = {},
                   .value = pair.values.bottomRows(1).transpose(),
                   .error = {},
                   .output_gradient = record.at("g2"),
                   .hidden_gradient = record.at("g1")};
  pass.error = norm ? record.at("e") : record.at("g2");
  pass.answer = norm ? Vector<double>(pass.value + pass.error) : pass.output;
  for (const char* name : {"sum_W1_after", "sum_b1_after", "sum_W2_after", "sum_b2_after"})
    pass.weight_gradients.push_back(record.at(name));
  pass.sent = strongest_paths(pass.key.asDiagonal() * W[0], pass.hidden.asDiagonal() * W[2]);
  pass.taught = strongest_paths(pass.weight_gradients[0], pass.weight_gradients[2]);
  return pass;
}

GradientCheck check_gradient(const LearningStep& step, std::stop_token stop) {
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
  GradientCheck check{.places = std::min<Index>(200, total)};
  // The cube root of the rounding balances truncation and rounding errors.
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
  // Newton's parabola through the two points around it and a third: most losses are parabolas, and near their
  // minimum a straight line would be far above them.
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
  if (step.along.curvature > 0 && step.along.slope < 0)
    moment.edge = moment.parabola_edge = -2 * step.along.slope / step.along.curvature;
  const bool is_parabola = !step.stability || step.stability->exact;
  if (!is_parabola)
    moment.edge = true_edge(step, std::isfinite(moment.parabola_edge) ? 4 * moment.parabola_edge : 4.0);
  moment.strength = strength_of(variant, sequence, token, step);
  const double last = last_rate(moment);
  for (Index i = 0; i < count; ++i)
    moment.rates.push_back(last * static_cast<double>(i) / static_cast<double>(count - 1));
  moment.losses = losses_along(step, moment.rates);
  moment.check = check_gradient(step, stop);
  moment.outer = outer_gradient(variant, sequence, token, step);
  moment.written = difference(step.after.weights, scaled(step.problem.from, step.problem.kept));
  if (step.problem.at.size() == 4) {
    moment.network = network_pass(variant, sequence, token, step.problem.at);
    moment.network_after = network_pass(variant, sequence, token, step.after.weights);
    moment.network_step = strongest_paths(moment.written[0], moment.written[2]);
  }
  return moment;
}

std::optional<WrittenOuter> written_outer(const LearningMoment& moment) {
  if (!moment.outer || moment.written.size() != 1) return std::nullopt;
  const Matrix<double>& written = moment.written.front();
  const Vector<double> error = -moment.outer->error;
  const double squares = error.squaredNorm();
  if (error.size() != written.cols() || !(squares > 0)) return std::nullopt;
  WrittenOuter outer{written * error / squares, error};
  if (!((written - outer.key * error.transpose()).norm() <= same_up_to * written.norm())) return std::nullopt;
  const Vector<double>& key = moment.outer->key;
  const double lengths = outer.key.norm() * key.norm();
  outer.along_key = outer.key.dot(key) >= (1 - same_up_to) * lengths;
  return outer;
}

bool solves_for_queries(const Variant& variant) {
  return hands_on(variant, "Hkk") && hands_on(variant, "Hkv");
}

std::optional<ConvergingSolve> converging_solve(const Variant& variant, const Sequence& sequence, Index token,
                                                Index chunk_size, std::stop_token stop) {
  if (!solves_for_queries(variant)) return std::nullopt;
  require_token(token, sequence.tokens);
  ConvergingSolve solve{.token = token, .first_token = token - token % chunk_size};
  solve.token_count = std::min(chunk_size, sequence.tokens - solve.first_token);
  solve.course.row = token - solve.first_token;

  const NamedStates states = states_at(variant, sequence, solve.first_token, stop);
  const Matrix<double>& Hkk = state_of(states, "Hkk");
  const MesaRows<double> rows = mesa_rows<double>(sequence, solve.first_token, solve.token_count);
  MesaState<double> H(Hkk.rows(), Hkk.cols() + sequence.dv);
  H << Hkk, state_of(states, "Hkv");
  mesa_chunk<double>(rows, H, nullptr, stop, &solve.course);
  solve.exact = mesa_solutions<double>(rows, Hkk, 0, stop).row(solve.course.row).transpose();
  const double length = solve.exact.norm();
  for (const Vector<double>& x : solve.course.solutions)
    solve.differences.push_back(length > 0 ? (x - solve.exact).norm() / length : 0);
  return solve;
}

}  // namespace palimpsest
