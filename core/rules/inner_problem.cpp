#include "core/rules/inner_problem.h"

#include <fmt/format.h>

#include "core/engines/lact.h"
#include "core/numbers/gelu.h"
#include "core/rules/row_map.h"

namespace palimpsest {

namespace {

/// A term from its value, `value(W)` for weights of either kind, its gradient and its Hessian.
template <class Value, class Gradient, class Second>
std::shared_ptr<const LossTerm> term(Value value, Gradient gradient, Second second) {
  return std::make_shared<const LossTerm>(LossTerm{value, value, std::move(gradient), std::move(second)});
}

/// sum_j w_j |row j of E|^2 / 2.
template <class Scalar>
Scalar half_squares(const Matrix<Scalar>& E, const Vector<double>& weights) {
  const Vector<Scalar> w = weights.cast<Scalar>();
  return Scalar(0.5) * w.dot(E.rowwise().squaredNorm());
}

/// sum_j w_j k_j k_j^T.
Matrix<double> gram(const WeighedPairs& pairs) {
  return pairs.keys.transpose() * pairs.weights.asDiagonal() * pairs.keys;
}

Matrix<double> zeros_like(const Matrix<double>& S) { return Matrix<double>::Zero(S.rows(), S.cols()); }

/// The positions of the weights and biases of a layer.
struct Layers {
  bool has_biases;

  std::size_t count(std::size_t matrices) const { return has_biases ? matrices / 2 : matrices; }
  std::size_t weights(std::size_t layer) const { return has_biases ? 2 * layer : layer; }
  std::size_t bias(std::size_t layer) const { return weights(layer) + 1; }
};

/// What goes into every layer, and what comes out of it: X W + b.
template <class Scalar>
struct Passed {
  std::vector<Matrix<Scalar>> inputs;
  std::vector<Matrix<Scalar>> outputs;
};

template <class Scalar>
Passed<Scalar> pass(const Layers& layers, const Weights<Scalar>& W, Matrix<Scalar> X) {
  Passed<Scalar> passed;
  for (std::size_t layer = 0; layer < layers.count(W.size()); ++layer) {
    if (layer > 0) X = gelu(passed.outputs.back());
    Matrix<Scalar> Z = X * W[layers.weights(layer)];
    if (layers.has_biases) Z.rowwise() += W[layers.bias(layer)].col(0).transpose();
    passed.inputs.push_back(X);
    passed.outputs.push_back(Z);
  }
  return passed;
}

template <class Scalar>
LayerNorm<Scalar> cast(const LayerNorm<double>& norm) {
  return {norm.gain.cast<Scalar>(), norm.bias.cast<Scalar>(), Scalar(norm.eps)};
}

template <class Scalar>
Matrix<Scalar> answers_of(const Layers& layers, const std::optional<LayerNorm<double>>& norm,
                          const Weights<Scalar>& W, const Matrix<Scalar>& X) {
  const Matrix<Scalar> Y = pass<Scalar>(layers, W, X).outputs.back();
  if (!norm) return Y;
  return X + cast<Scalar>(*norm)(Y);
}

/// The gradient of half the weighted squared errors, layer after layer from the last.
Weights<double> network_gradient(const WeighedPairs& pairs, const Layers& layers,
                                 const std::optional<LayerNorm<double>>& norm, const Weights<double>& W) {
  const Passed<double> passed = pass<double>(layers, W, pairs.keys);
  const Matrix<double>& Y = passed.outputs.back();
  Matrix<double> G = Y - pairs.values;
  if (norm) {
    const auto standardised = norm->standardise(Y);
    const Matrix<double> E = pairs.keys + norm->stretch(standardised.rows) - pairs.values;
    G = LayerNorm<double>::gradient(E * norm->gain.asDiagonal(), standardised);
  }
  G = pairs.weights.asDiagonal() * G;
  Weights<double> gradients(W.size());
  for (std::size_t layer = passed.inputs.size(); layer-- > 0;) {
    gradients[layers.weights(layer)] = passed.inputs[layer].transpose() * G;
    if (layers.has_biases) gradients[layers.bias(layer)] = G.colwise().sum().transpose();
    if (layer == 0) break;
    const Matrix<double> back = G * W[layers.weights(layer)].transpose();
    G = back.cwiseProduct(gelu_derivative(passed.outputs[layer - 1]));
  }
  return gradients;
}

Weights<double> zeros_like(const Weights<double>& W) {
  Weights<double> zeros;
  for (const Matrix<double>& matrix : W) zeros.push_back(Matrix<double>::Zero(matrix.rows(), matrix.cols()));
  return zeros;
}

/// The gradients of all terms, each times its P where `preconditioned`.
Weights<double> sum_of_gradients(const std::vector<WeighedTerm>& terms, const Weights<double>& W,
                                 bool preconditioned) {
  Weights<double> sum = zeros_like(W);
  for (const auto& [term, P] : terms) {
    const Weights<double> own = term->gradient(W);
    for (std::size_t i = 0; i < W.size(); ++i)
      sum[i] += preconditioned && P.size() > 0 ? Matrix<double>(P * own[i]) : own[i];
  }
  return sum;
}

double strength(const Program<double>& row) { return row.structure.beta ? row.beta(0, 0) : 1; }

/// d with a = d k; nothing if there is none. The rounding of a product such as e o k is tolerated.
std::optional<double> multiple(const Matrix<double>& a, const Matrix<double>& k) {
  const double squares = k.squaredNorm();
  const double d = squares > 0 ? a.cwiseProduct(k).sum() / squares : 0;
  const double tolerance = 8 * std::numeric_limits<double>::epsilon();
  if ((a - d * k).cwiseAbs().maxCoeff() > tolerance * a.cwiseAbs().maxCoeff()) return std::nullopt;
  return d;
}

/// Problems of all rows of the token, one after the other. `make(row, S)` says the terms, the point and the
/// rate.
template <class Make>
std::vector<InnerProblem> each_row(const InnerContext& context, Make make) {
  const RowRule& rule = *context.rule.row_program();
  const Program<double> rows = rule.encode<double>(context.sequence, context.token, 1);
  Matrix<double> S = program_state(context.before);
  std::string names;
  for (const auto& [name, state] : context.before) names += names.empty() ? name : " " + name;
  std::vector<InnerProblem> problems;
  for (Index r = 0; r < rows.rows(); ++r) {
    InnerProblem problem = make(rows.row(r), S);
    problem.first_token = context.token;
    problem.names = {names};
    problem.from = problem.at;
    S = problem.after().weights[0];
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace

WeighedPairs one_pair(const Matrix<double>& key, const Matrix<double>& value, double weight) {
  return {key, value, Vector<double>::Constant(1, weight)};
}

std::shared_ptr<const LossTerm> squared_loss(WeighedPairs pairs) {
  return term(
      [pairs]<class Scalar>(const Weights<Scalar>& W) {
        const Matrix<Scalar> E = pairs.keys.cast<Scalar>() * W[0] - pairs.values.cast<Scalar>();
        return half_squares<Scalar>(E, pairs.weights);
      },
      [pairs](const Weights<double>& W) -> Weights<double> {
        return {pairs.keys.transpose() * pairs.weights.asDiagonal() * (pairs.keys * W[0] - pairs.values)};
      },
      [pairs](const Weights<double>& W) {
        return Hessian{gram(pairs), zeros_like(W[0])};
      });
}

std::shared_ptr<const LossTerm> dot_loss(WeighedPairs pairs) {
  return term(
      [pairs]<class Scalar>(const Weights<Scalar>& W) {
        const Matrix<Scalar> answers = pairs.keys.cast<Scalar>() * W[0];
        const Vector<Scalar> agreement = answers.cwiseProduct(pairs.values.cast<Scalar>()).rowwise().sum();
        return Scalar(-pairs.weights.cast<Scalar>().dot(agreement));
      },
      [pairs](const Weights<double>&) -> Weights<double> {
        return {-(pairs.keys.transpose() * pairs.weights.asDiagonal() * pairs.values)};
      },
      [](const Weights<double>& W) {
        return Hessian{Matrix<double>::Zero(W[0].rows(), W[0].rows()), zeros_like(W[0])};
      });
}

std::shared_ptr<const LossTerm> shrinking_loss(Matrix<double> R) {
  return term(
      [R]<class Scalar>(const Weights<Scalar>& W) {
        return Scalar(Scalar(0.5) * W[0].cwiseProduct(W[0]).cwiseProduct(R.cast<Scalar>()).sum());
      },
      [R](const Weights<double>& W) -> Weights<double> { return {R.cwiseProduct(W[0])}; },
      [R](const Weights<double>&) {
        return Hessian{Matrix<double>::Zero(R.rows(), R.rows()), R};
      });
}

std::shared_ptr<const LossTerm> quadratic_loss(Matrix<double> A, Matrix<double> B, double constant) {
  return term(
      [A, B, constant]<class Scalar>(const Weights<Scalar>& W) {
        const Matrix<Scalar> half = Scalar(0.5) * (A.cast<Scalar>() * W[0]) - B.cast<Scalar>();
        return Scalar(W[0].cwiseProduct(half).sum() + Scalar(constant));
      },
      [A, B](const Weights<double>& W) -> Weights<double> { return {A * W[0] - B}; },
      [A, B](const Weights<double>&) {
        return Hessian{A, zeros_like(B)};
      });
}

Matrix<double> network_answers(const Weights<double>& W, bool has_biases,
                               const std::optional<LayerNorm<double>>& norm, const Matrix<double>& X) {
  return answers_of<double>({has_biases}, norm, W, X);
}

std::shared_ptr<const LossTerm> network_loss(WeighedPairs pairs, bool has_biases,
                                             std::optional<LayerNorm<double>> norm) {
  const Layers layers = {has_biases};
  return term(
      [pairs, layers, norm]<class Scalar>(const Weights<Scalar>& W) {
        const Matrix<Scalar> E =
            answers_of<Scalar>(layers, norm, W, pairs.keys.cast<Scalar>()) - pairs.values.cast<Scalar>();
        return half_squares<Scalar>(E, pairs.weights);
      },
      [pairs, layers, norm](const Weights<double>& W) { return network_gradient(pairs, layers, norm, W); },
      // A single linear layer is the squared loss.
      [pairs, norm](const Weights<double>& W) -> std::optional<Hessian> {
        if (norm || W.size() > 1) return std::nullopt;
        return Hessian{gram(pairs), zeros_like(W[0])};
      });
}

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

Weights<double> InnerProblem::gradient(const Weights<double>& W) const {
  return sum_of_gradients(terms, W, false);
}

Weights<double> InnerProblem::preconditioned_gradient(const Weights<double>& W) const {
  return sum_of_gradients(terms, W, true);
}

InnerProblem::After InnerProblem::after(Recorder* recorder) const {
  const LactUpdate<double> update = {muon, column_norm};
  const Weights<double> gradient = preconditioned_gradient(at);
  After result{from, moving.empty() ? zeros_like(from) : moving};
  for (std::size_t i = 0; i < from.size(); ++i) {
    result.weights[i] *= kept;
    const Matrix<double> step = -rate * gradient[i];
    LactOnProcessor<double>().update(update, step, momentum, result.weights[i], result.moving[i], recorder);
  }
  if (moving.empty()) result.moving.clear();
  return result;
}

const Matrix<double>& state_of(const NamedStates& states, std::string_view name) {
  if (const auto* state = row_called(states, name, &NamedStates::value_type::first)) return state->second;
  throw Error(fmt::format("there is no state \"{}\"", name));
}

Matrix<double> row_of(const InnerContext& context, std::string_view name) {
  return context.sequence.at(name).rows<double>(context.token, 1);
}

std::vector<InnerProblem> step_from(const InnerContext& context, const Matrix<double>& S,
                                    std::vector<WeighedTerm> terms, double rate) {
  return {{.first_token = context.token, .terms = std::move(terms), .at = {S}, .from = {S}, .rate = rate}};
}

std::vector<InnerProblem> dot_problems(const InnerContext& context) {
  return each_row(context, [](const Program<double>& row, const Matrix<double>& S) {
    const Matrix<double> forgotten = (1 - cell_decays(row).array()).matrix();
    InnerProblem problem{.terms = {{dot_loss(one_pair(row.k, row.v, strength(row)))}}, .at = {S}};
    if (!forgotten.isZero(0)) problem.terms.push_back({shrinking_loss(forgotten)});
    return problem;
  });
}

std::vector<InnerProblem> squared_problems(const InnerContext& context) {
  return each_row(context, [](const Program<double>& row, const Matrix<double>& S) {
    return InnerProblem{.terms = {{squared_loss(one_pair(row.k, row.v))}},
                        .at = {cell_decays(row).cwiseProduct(S)},
                        .rate = strength(row)};
  });
}

std::vector<InnerProblem> erase_key_problems(const InnerContext& context) {
  return each_row(context, [&](const Program<double>& row, const Matrix<double>& S) {
    const std::optional<double> d = multiple(row.a, row.k);
    if (!d) {
      throw Unsupported(fmt::format(
          "token {}: the erase key is no multiple of the write key; the step has a curl, and no loss has "
          "such a gradient",
          context.token + 1));
    }
    const bool decayed = row.structure.erase == Erase::decayed;
    const double beta = strength(row);
    const double weight = decayed ? 1 : beta;
    const Matrix<double> nothing = Matrix<double>::Zero(1, row.v.cols());
    InnerProblem problem{.terms = {{squared_loss(one_pair(row.k, nothing, weight * *d))},
                                   {dot_loss(one_pair(row.k, row.v, weight))}},
                         .at = {decayed ? Matrix<double>(cell_decays(row).cwiseProduct(S)) : S},
                         .rate = decayed ? beta : 1};
    if (!decayed) problem.terms.push_back({shrinking_loss((1 - cell_decays(row).array()).matrix())});
    return problem;
  });
}

std::vector<InnerProblem> preconditioned_problems(const InnerContext& context) {
  return each_row(context, [&](const Program<double>& row, const Matrix<double>& S) {
    const Index K = row.k.cols();
    Matrix<double> iota = Matrix<double>::Zero(K, K);
    for (Index i = 0; i < K; ++i) {
      if (row.k(0, i) == 0) continue;
      if (row.a(0, i) == 0) {
        throw Unsupported(fmt::format(
            "token {}: b erases along channel {}, which a does not read; no preconditioner makes that a "
            "step on a loss",
            context.token + 1, i + 1));
      }
      iota(i, i) = row.k(0, i) / row.a(0, i);
    }
    const Matrix<double> nothing = Matrix<double>::Zero(1, row.v.cols());
    return InnerProblem{.terms = {{dot_loss(one_pair(row.k_plain, row.v_plain))},
                                  {shrinking_loss((1 - cell_decays(row).array()).matrix())},
                                  {squared_loss(one_pair(row.a, nothing)), iota}},
                        .at = {S}};
  });
}

}  // namespace palimpsest
