#include "core/engines/inner_network.h"

#include "core/numbers/gelu.h"

namespace palimpsest {

std::vector<std::string> NetworkPlan::parameters() const {
  std::vector<std::string> names;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    names.push_back(weights[layer]);
    if (has_biases()) names.push_back(biases[layer]);
  }
  return names;
}

/// Records what the engine computes, if there is a recorder.
template <class Scalar>
struct InnerNetwork<Scalar>::Record {
  Recorder* recorder;
  bool token;
  const NetworkPlan& plan;

  void rows(const std::string& name, const Matrix<Scalar>& value) const {
    if (recorder) recorder->rows(name, token, value);
  }

  /// Parameters, or the sums of their gradients: value(0), value(1) ..., biases as columns.
  template <class Value>
  void parameters(const std::string& prefix, const std::string& when, Value value) const {
    const std::vector<std::string> names = plan.parameters();
    for (std::size_t p = 0; recorder && p < names.size(); ++p) {
      const Matrix<Scalar> each = value(p);
      const bool is_bias = plan.has_biases() && p % 2 == 1;
      (*recorder)(prefix + names[p] + when, is_bias ? Matrix<Scalar>(each.transpose()) : each);
    }
  }

  const char* before() const { return token ? "_before" : "_in"; }
  const char* after() const { return token ? "_after" : "_out"; }
};

template <class Scalar>
typename InnerNetwork<Scalar>::Gradients InnerNetwork<Scalar>::gradients(const NetworkRows<Scalar>& rows,
                                                                         const Carried<Scalar>& carried,
                                                                         const Record& record) const {
  const std::size_t layers = plan_.layers();
  Gradients result{{rows.K}, std::vector<Matrix<Scalar>>(layers)};

  // Forward: Z = H W + b, H' = gelu(Z).
  Matrix<Scalar> Z;
  std::vector<Matrix<Scalar>> hidden;  // Z of every layer but the last
  for (std::size_t layer = 0; layer < layers; ++layer) {
    Z = result.inputs[layer] * carried[weights(layer)];
    if (plan_.has_biases()) Z.rowwise() += carried[bias(layer)].row(0);
    if (layer + 1 == layers) break;
    hidden.push_back(Z);
    result.inputs.push_back(gelu(Z));
    record.rows("z", Z);
    record.rows("h", result.inputs.back());
  }
  record.rows("y", Z);

  // Backward: G of the last layer from the loss, then G W^T o gelu'(Z).
  Matrix<Scalar> G = output_gradient(Z, rows, record);
  for (std::size_t layer = layers; layer-- > 0;) {
    record.rows("g" + plan_.suffix(layer), G);
    result.steps[layer] = rows.eta.asDiagonal() * G;
    if (layer > 0) {
      G = (G * carried[weights(layer)].transpose()).cwiseProduct(gelu_derivative(hidden[layer - 1]));
    }
  }
  return result;
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::output_gradient(const Matrix<Scalar>& Y, const NetworkRows<Scalar>& rows,
                                                     const Record& record) const {
  if (!norm_) return Y - rows.V;
  const auto standardised = norm_->standardise(Y);
  const Matrix<Scalar> E = norm_->stretch(standardised.rows) - (rows.V - rows.K);
  record.rows("y_hat", standardised.rows);
  record.rows("deviation", standardised.deviations);
  record.rows("e", E);
  const Matrix<Scalar> delta = E.array().rowwise() * norm_->gain.array();
  record.rows("delta", delta);
  return LayerNorm<Scalar>::gradient(delta, standardised);
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::output(const Matrix<Scalar>& Y, const NetworkRows<Scalar>& rows,
                                            const Record& record) const {
  if (norm_) record.rows("y_q", Y);
  return norm_ ? Matrix<Scalar>(rows.Q + (*norm_)(Y)) : Y;
}

/// A += H^T eta G, and for a bias the sum of the rows.
template <class Scalar>
void InnerNetwork<Scalar>::add_to_sums(const Gradients& gradients, Carried<Scalar>& carried) const {
  for (std::size_t layer = 0; layer < plan_.layers(); ++layer) {
    const Matrix<Scalar>& G = gradients.steps[layer];
    carried[parameter_count() + weights(layer)] += gradients.inputs[layer].transpose() * G;
    if (plan_.has_biases()) carried[parameter_count() + bias(layer)] += G.colwise().sum();
  }
}

/// W - sigma A: a parameter as it is after the tokens summed so far.
template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::after(std::size_t parameter, Scalar sigma,
                                           const Carried<Scalar>& carried) const {
  return carried[parameter] - sigma * carried[parameter_count() + parameter];
}

template <class Scalar>
void InnerNetwork<Scalar>::begin_next_batch(const NetworkRows<Scalar>& rows, Carried<Scalar>& carried) const {
  const Scalar sigma = rows.sigma(rows.sigma.size() - 1);
  for (std::size_t parameter = 0; parameter < parameter_count(); ++parameter) {
    carried[parameter] = after(parameter, sigma, carried);
    carried[parameter_count() + parameter].setZero();
  }
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::primal(const NetworkRows<Scalar>& token, Carried<Scalar>& carried,
                                            Recorder* recorder) const {
  const Record record{recorder, true, plan_};
  const auto sum = [&](std::size_t p) { return carried[parameter_count() + p]; };
  record.parameters("", "_start", [&](std::size_t p) { return carried[p]; });
  record.parameters("sum_", record.before(), sum);
  add_to_sums(gradients(token, carried, record), carried);
  record.parameters("sum_", record.after(), sum);

  // The token's own weights, and the output of the network with them for the query.
  Carried<Scalar> own;
  for (std::size_t p = 0; p < parameter_count(); ++p) own.push_back(after(p, token.sigma(0), carried));
  record.parameters("", record.after(), [&](std::size_t p) { return own[p]; });

  Matrix<Scalar> X = token.Q;
  for (std::size_t layer = 0; layer < plan_.layers(); ++layer) {
    X = X * own[weights(layer)];
    if (plan_.has_biases()) X += own[bias(layer)];
    if (layer + 1 == plan_.layers()) break;
    record.rows("z_q", X);
    X = gelu(X);
    record.rows("x", X);
  }
  const Matrix<Scalar> o = output(X, token, record);
  if (token.ends_batch) begin_next_batch(token, carried);
  return o;
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::dual(const NetworkRows<Scalar>& rows, Carried<Scalar>& carried,
                                          Recorder* recorder) const {
  const Record record{recorder, false, plan_};
  const std::size_t sums = parameter_count();
  const auto sum = [&](std::size_t p) { return carried[sums + p]; };
  record.parameters("", "_start", [&](std::size_t p) { return carried[p]; });
  record.parameters("sum_", record.before(), sum);

  const Gradients keys = gradients(rows, carried, record);
  Matrix<Scalar> X = rows.Q;
  for (std::size_t layer = 0; layer < plan_.layers(); ++layer) {
    // P = sigma o tril(X H^T + 1 1^T): the 1 is the bias seen as a weight of a constant key feature.
    Matrix<Scalar> P = X * keys.inputs[layer].transpose();
    if (plan_.has_biases()) P.array() += Scalar(1);
    P = rows.sigma.asDiagonal() * P;
    P.template triangularView<Eigen::StrictlyUpper>().setZero();
    note(recorder, "P" + plan_.suffix(layer), P);

    // X W + b, minus the gradients of this piece, minus those of the batch before it.
    Matrix<Scalar> earlier = X * carried[sums + weights(layer)];
    X = X * carried[weights(layer)] - P * keys.steps[layer];
    if (plan_.has_biases()) {
      X.rowwise() += carried[bias(layer)].row(0);
      earlier.rowwise() += carried[sums + bias(layer)].row(0);
    }
    X -= rows.sigma.asDiagonal() * earlier;
    if (layer + 1 == plan_.layers()) break;
    record.rows("z_q", X);
    X = gelu(X);
    record.rows("x", X);
  }
  const Matrix<Scalar> O = output(X, rows, record);

  add_to_sums(keys, carried);
  const Scalar last_sigma = rows.sigma(rows.sigma.size() - 1);
  record.parameters("sum_", record.after(), sum);
  record.parameters("", record.after(), [&](std::size_t p) { return after(p, last_sigma, carried); });
  if (rows.ends_batch) begin_next_batch(rows, carried);
  return O;
}

template class InnerNetwork<double>;
template class InnerNetwork<float>;

}  // namespace palimpsest
