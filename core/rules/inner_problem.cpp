#include "core/rules/inner_problem.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/engines/lact.h"

namespace palimpsest {

Weights<Jet> on_a_line(const Weights<double>& W, const Weights<double>& along) {
  Weights<Jet> line;
  for (std::size_t i = 0; i < W.size(); ++i) {
    line.push_back(W[i].binaryExpr(along[i], [](double x, double d) { return Jet(x, d, 0); }));
  }
  return line;
}

double dot(const Weights<double>& X, const Weights<double>& Y) {
  double sum = 0;
  for (std::size_t i = 0; i < X.size(); ++i) sum += X[i].cwiseProduct(Y[i]).sum();
  return sum;
}

namespace {

template <class Scalar>
Scalar sum_of_terms(const std::vector<WeighedTerm>& terms, const Weights<Scalar>& W) {
  Scalar sum = 0;
  for (const WeighedTerm& term : terms) sum += term.of->loss(W);
  return sum;
}

Weights<double> zeros_like(const Weights<double>& W) {
  Weights<double> zeros;
  for (const Matrix<double>& matrix : W) zeros.push_back(Matrix<double>::Zero(matrix.rows(), matrix.cols()));
  return zeros;
}

}  // namespace

double InnerProblem::loss(const Weights<double>& W) const { return sum_of_terms(terms, W); }

Jet InnerProblem::loss(const Weights<Jet>& W) const { return sum_of_terms(terms, W); }

Weights<double> InnerProblem::gradient(const Weights<double>& W) const {
  Weights<double> sum = zeros_like(W);
  for (const WeighedTerm& term : terms) {
    const Weights<double> own = term.of->gradient(W);
    for (std::size_t i = 0; i < W.size(); ++i) sum[i] += own[i];
  }
  return sum;
}

Weights<double> InnerProblem::preconditioned_gradient(const Weights<double>& W) const {
  Weights<double> sum = zeros_like(W);
  for (const WeighedTerm& term : terms) {
    const Weights<double> own = term.of->gradient(W);
    const Matrix<double>& P = term.preconditioner;
    for (std::size_t i = 0; i < W.size(); ++i) sum[i] += P.size() == 0 ? own[i] : Matrix<double>(P * own[i]);
  }
  return sum;
}

InnerProblem::After InnerProblem::after(Recorder* recorder) const {
  const LactUpdate<double> update = {muon, column_norm};
  const Weights<double> gradient = preconditioned_gradient(at);
  After result{from, moving.empty() ? zeros_like(from) : moving};
  for (std::size_t i = 0; i < from.size(); ++i) {
    result.weights[i] *= kept;
    const Matrix<double> step = -rate * gradient[i];
    lact_update(update, step, momentum, result.weights[i], result.moving[i], recorder);
  }
  if (moving.empty()) result.moving.clear();
  return result;
}

bool InnerProblem::is_fresh() const {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] != from[i]) return false;
  }
  return true;
}

const Matrix<double>& state_of(const NamedStates& states, std::string_view name) {
  for (const auto& [known, value] : states) {
    if (known == name) return value;
  }
  throw Error(fmt::format("there is no state \"{}\"", name));
}

Matrix<double> row_of(const InnerContext& context, std::string_view name) {
  return context.sequence.at(name).rows<double>(context.token, 1);
}

}  // namespace palimpsest
