#include "app/session/computation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace palimpsest {

namespace {

constexpr double tolerance_f64 = 1e-10;
constexpr double tolerance_f32 = 2e-5;

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> version{0};
  return ++version;
}

double largest(const Matrix<double>& x) { return x.size() == 0 ? 0 : x.cwiseAbs().maxCoeff(); }

/// A difference that is not a number counts as infinite, unless both sides hold the same.
double distance(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  const double difference = std::abs(x - y);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

void compare(FormResult& form, const Output& reference, double tolerance) {
  const Matrix<double>& o = form.output.o;
  const double scale = largest(reference.o);
  form.token_residual.assign(static_cast<std::size_t>(o.rows()), 0.0);
  for (Index t = 0; t < o.rows(); ++t) {
    double& worst = form.token_residual[static_cast<std::size_t>(t)];
    for (Index c = 0; c < o.cols(); ++c) worst = std::max(worst, distance(o(t, c), reference.o(t, c)));
    if (scale > 0) worst /= scale;
    if (worst > tolerance && form.first_bad_token < 0) form.first_bad_token = t;
    form.residual = std::max(form.residual, worst);
  }
  for (std::size_t i = 0; i < form.output.states.size(); ++i) {
    form.residual = std::max(form.residual, relative_error(form.output.states[i].second, reference.states[i].second));
  }
}

std::vector<TokenFacts> token_facts(const Computation& computation, const std::stop_token& stop) {
  const Sequence& sequence = computation.sequence;
  std::vector<TokenFacts> facts(static_cast<std::size_t>(sequence.tokens));
  const auto recalls = recall(*computation.variant->rule, sequence, stop);
  const auto gamma = sequence.settings.parameters.find("gamma");
  for (Index t = 0; t < sequence.tokens; ++t) {
    TokenFacts& fact = facts[static_cast<std::size_t>(t)];
    if (sequence.has("alpha")) {
      const Matrix<double> gate = sequence.at("alpha").rows<double>(t, 1);
      fact.alpha = sequence.gates_are_logs ? gate.array().exp().mean() : gate.mean();
    } else if (gamma != sequence.settings.parameters.end()) {
      fact.alpha = gamma->second;
    }
    if (sequence.has("beta")) fact.beta = sequence.at("beta")(t, 0);
    if (recalls) fact.recall = (*recalls)[static_cast<std::size_t>(t)];
  }
  return facts;
}

}  // namespace

double relative_error(const Matrix<double>& x, const Matrix<double>& y) {
  double worst = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    for (Index j = 0; j < y.cols(); ++j) worst = std::max(worst, distance(x(i, j), y(i, j)));
  }
  const double scale = largest(y);
  return scale > 0 ? worst / scale : worst;
}

std::shared_ptr<Computation> compute(const DataSet& data, const Choice& choice, std::stop_token stop) {
  auto result = std::make_shared<Computation>();
  result->version = next_version();
  result->choice = choice;
  result->variant = &find_variant(choice.variant);
  const Rule& rule = *result->variant->rule;
  result->inputs = make_inputs(data, choice.head, *result->variant, choice.settings, choice.adjustments);
  result->sequence = std::move(palimpsest::bind(*result->variant, result->inputs.arrays, result->inputs.settings).heads.front());
  result->tolerance = choice.precision == Precision::f64 ? tolerance_f64 : tolerance_f32;
  result->reference = rule.run(result->sequence, Form::recurrent, Precision::f64, choice.chunk_size, stop);

  for (const Form form : all_forms) {
    FormResult& made = result->form(form);
    try {
      made.output = rule.run(result->sequence, form, choice.precision, choice.chunk_size, stop);
      made.trace = rule.trace(result->sequence, form, choice.precision, choice.chunk_size);
    } catch (const Unsupported& reason) {
      made.missing = reason.what();
      continue;
    }
    compare(made, result->reference, result->tolerance);
    result->worst = std::max(result->worst, made.residual);
    if (stop.stop_requested()) throw Cancelled();
  }
  result->agree = result->worst <= result->tolerance;
  result->tokens = token_facts(*result, stop);

  const auto own = result->inputs.arrays->find("o");
  const bool is_capture = own != result->inputs.arrays->end() && result->inputs.is_original && data.rule == choice.variant;
  if (is_capture && own->second.size() == result->reference.o.size()) {
    const MatrixView o(own->second, 0, result->reference.o.rows(), result->reference.o.cols(),
                       result->reference.o.cols());
    result->capture_error = relative_error(result->reference.o, o.all<double>());
  }
  return result;
}

}  // namespace palimpsest
