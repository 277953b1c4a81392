#pragma once

#include "core/engines/inner_network.h"
#include "core/numbers/products.h"

namespace palimpsest {

/// A network and the tokens of one batch that it learns: one token (primal), or some (dual). `Products`
/// multiplies (core/numbers/products.h).
template <class Scalar, class Products>
struct NetworkBatch {
  const InnerNetwork<Scalar>& network;
  const NetworkRows<Scalar>& rows;
  Carried<Scalar>& carried;
  Recorder* recorder;
  bool token;

  const NetworkPlan& plan = network.plan();
  const std::optional<LayerNorm<Scalar>>& norm = network.norm();
  std::size_t parameter_count = plan.layers() * (plan.has_biases() ? 2 : 1);
  std::vector<Matrix<Scalar>> inputs = {rows.K};  // of every layer for the keys: [L, D]
  // eta_j times the gradients of the loss at every layer's output: [L, E]
  std::vector<Matrix<Scalar>> steps = std::vector<Matrix<Scalar>>(plan.layers());

  std::size_t weights(std::size_t layer) const { return plan.has_biases() ? 2 * layer : layer; }
  std::size_t bias(std::size_t layer) const { return weights(layer) + 1; }
  const char* after() const { return token ? "_after" : "_out"; }

  void record(const std::string& name, const Matrix<Scalar>& value) const {
    if (recorder) recorder->rows(name, token, value);
  }

  /// Records parameters, or the sums of their gradients: value(0), value(1) ..., biases as columns.
  template <class Value>
  void record_parameters(const std::string& prefix, const std::string& when, Value value) const {
    const std::vector<std::string> names = plan.parameters();
    for (std::size_t p = 0; recorder && p < names.size(); ++p) {
      const Matrix<Scalar> each = value(p);
      const bool is_bias = plan.has_biases() && p % 2 == 1;
      (*recorder)(prefix + names[p] + when, is_bias ? Matrix<Scalar>(each.transpose()) : each);
    }
  }
  void record_sums(const char* when) const {
    record_parameters("sum_", when, [&](std::size_t p) { return carried[parameter_count + p]; });
  }
  void record_start() const {
    record_parameters("", "_start", [&](std::size_t p) { return carried[p]; });
    record_sums(token ? "_before" : "_in");
  }

  /// Makes the inputs and steps of every layer.
  void take_gradients() {
    // Forward: Z = H W + b, H' = gelu(Z).
    Matrix<Scalar> Z;
    std::vector<Matrix<Scalar>> hidden;  // Z of every layer but the last
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      Z = Products::product(inputs[layer], carried[weights(layer)]);
      if (plan.has_biases()) Z.rowwise() += carried[bias(layer)].row(0);
      if (layer + 1 == plan.layers()) break;
      hidden.push_back(Z);
      inputs.push_back(Products::gelu(Z));
      record("z", Z);
      record("h", inputs.back());
    }
    record("y", Z);

    // Backward: G of the last layer from the loss, then G W^T o gelu'(Z).
    Matrix<Scalar> G = output_gradient(Z);
    for (std::size_t layer = plan.layers(); layer-- > 0;) {
      record("g" + plan.suffix(layer), G);
      steps[layer] = rows.eta.asDiagonal() * G;
      if (layer > 0)
        G = Products::product(G, carried[weights(layer)].transpose())
                .cwiseProduct(Products::gelu_derivative(hidden[layer - 1]));
    }
  }

  Matrix<Scalar> output_gradient(const Matrix<Scalar>& Y) const {
    if (!norm) return Y - rows.V;
    const auto standardised = Products::standardise(*norm, Y);
    const Matrix<Scalar> E = Products::stretch(*norm, standardised.rows) - (rows.V - rows.K);
    record("y_hat", standardised.rows);
    record("deviation", standardised.deviations);
    record("e", E);
    const Matrix<Scalar> delta = E.array().rowwise() * norm->gain.array();
    record("delta", delta);
    return Products::norm_gradient(*norm, delta, standardised);
  }

  /// The hidden units of the queries, from the output X of `layer`, unless it is the last.
  void activate(std::size_t layer, Matrix<Scalar>& X) const {
    if (layer + 1 == plan.layers()) return;
    record("z_q", X);
    X = Products::gelu(X);
    record("x", X);
  }

  Matrix<Scalar> output(const Matrix<Scalar>& Y) const {
    if (norm) record("y_q", Y);
    return norm ? Matrix<Scalar>(rows.Q + Products::stretch(*norm, Products::standardise(*norm, Y).rows)) : Y;
  }

  /// A += H^T eta G, and for a bias the sum of the rows.
  void add_to_sums() const {
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      const Matrix<Scalar>& G = steps[layer];
      Products::add_product(carried[parameter_count + weights(layer)], inputs[layer].transpose(), G);
      if (plan.has_biases()) carried[parameter_count + bias(layer)] += G.colwise().sum();
    }
  }

  Scalar last_sigma() const { return rows.sigma(rows.sigma.size() - 1); }

  /// W - sigma A: a parameter as it is after the tokens summed so far.
  Matrix<Scalar> learned(std::size_t parameter, Scalar sigma) const {
    return carried[parameter] - sigma * carried[parameter_count + parameter];
  }

  /// The next batch starts from the weights of the last token.
  void end_batch() const {
    const Scalar sigma = last_sigma();
    for (std::size_t parameter = 0; rows.ends_batch && parameter < parameter_count; ++parameter) {
      carried[parameter] = learned(parameter, sigma);
      carried[parameter_count + parameter].setZero();
    }
  }

  /// add_to_sums() and end_batch() of a whole batch at once.
  void learn_batch() const {
    const Scalar sigma = last_sigma();
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      const Matrix<Scalar>& G = steps[layer];
      Products::add_product(carried[weights(layer)], inputs[layer].transpose(), G, -sigma);
      if (plan.has_biases()) carried[bias(layer)] -= sigma * G.colwise().sum();
    }
  }

  /// What the gradients of the batch before this piece take off the output of `layer` for inputs X.
  Matrix<Scalar> learned_earlier(std::size_t layer, const Matrix<Scalar>& X) const {
    Matrix<Scalar> earlier = Products::product(X, carried[parameter_count + weights(layer)]);
    if (plan.has_biases()) earlier.rowwise() += carried[parameter_count + bias(layer)].row(0);
    return rows.sigma.asDiagonal() * earlier;
  }

  Matrix<Scalar> primal() {
    record_start();
    take_gradients();
    add_to_sums();
    record_sums(after());

    // The token's own weights, and the output of the network with them for the query.
    Carried<Scalar> own;
    for (std::size_t p = 0; p < parameter_count; ++p) own.push_back(learned(p, rows.sigma(0)));
    record_parameters("", after(), [&](std::size_t p) { return own[p]; });

    Matrix<Scalar> X = rows.Q;
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      X = Products::product(X, own[weights(layer)]);
      if (plan.has_biases()) X += own[bias(layer)];
      activate(layer, X);
    }
    const Matrix<Scalar> o = output(X);
    end_batch();
    return o;
  }

  Matrix<Scalar> dual() {
    record_start();
    take_gradients();
    Matrix<Scalar> X = rows.Q;
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      // P = sigma o tril(X H^T + 1 1^T): the 1 is the bias seen as a weight of a constant key feature.
      Matrix<Scalar> P = Products::lower_product(X, inputs[layer].transpose());
      if (plan.has_biases()) P.array() += Scalar(1);
      P = rows.sigma.asDiagonal() * P;
      P.template triangularView<Eigen::StrictlyUpper>().setZero();
      note(recorder, "P" + plan.suffix(layer), P);

      // X W + b, minus the gradients of this piece, minus those of the batch before it.
      const Matrix<Scalar> earlier = rows.starts_batch ? Matrix<Scalar>() : learned_earlier(layer, X);
      X = Products::difference(X, carried[weights(layer)], P, steps[layer]);
      if (plan.has_biases()) X.rowwise() += carried[bias(layer)].row(0);
      if (!rows.starts_batch) X -= earlier;
      activate(layer, X);
    }
    const Matrix<Scalar> O = output(X);

    if constexpr (Products::may_round_otherwise) {
      if (!recorder && rows.starts_batch && rows.ends_batch) {
        learn_batch();
        return O;
      }
    }
    add_to_sums();
    record_sums(after());
    record_parameters("", after(), [&](std::size_t p) { return learned(p, last_sigma()); });
    end_batch();
    return O;
  }
};

}  // namespace palimpsest
