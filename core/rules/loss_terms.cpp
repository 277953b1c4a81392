#include "core/numbers/gelu.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

namespace {

/// A term from a Derived with `template <class Scalar> Scalar value(const Weights<Scalar>&) const`.
template <class Derived>
class TermOf : public LossTerm {
 public:
  double loss(const Weights<double>& W) const override { return derived().template value<double>(W); }
  Jet loss(const Weights<Jet>& W) const override { return derived().template value<Jet>(W); }

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};

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

class SquaredLoss : public TermOf<SquaredLoss> {
 public:
  explicit SquaredLoss(WeighedPairs pairs) : pairs_(std::move(pairs)) {}

  template <class Scalar>
  Scalar value(const Weights<Scalar>& W) const {
    const Matrix<Scalar> E = pairs_.keys.cast<Scalar>() * W[0] - pairs_.values.cast<Scalar>();
    return half_squares<Scalar>(E, pairs_.weights);
  }

  Weights<double> gradient(const Weights<double>& W) const override {
    return {pairs_.keys.transpose() * pairs_.weights.asDiagonal() * (pairs_.keys * W[0] - pairs_.values)};
  }

  std::optional<Hessian> hessian(const Weights<double>& W) const override {
    return Hessian{gram(pairs_), Matrix<double>::Zero(W[0].rows(), W[0].cols())};
  }

 private:
  WeighedPairs pairs_;
};

class DotLoss : public TermOf<DotLoss> {
 public:
  explicit DotLoss(WeighedPairs pairs) : pairs_(std::move(pairs)) {}

  template <class Scalar>
  Scalar value(const Weights<Scalar>& W) const {
    const Matrix<Scalar> answers = pairs_.keys.cast<Scalar>() * W[0];
    const Vector<Scalar> agreement = answers.cwiseProduct(pairs_.values.cast<Scalar>()).rowwise().sum();
    return -pairs_.weights.cast<Scalar>().dot(agreement);
  }

  Weights<double> gradient(const Weights<double>&) const override {
    return {-(pairs_.keys.transpose() * pairs_.weights.asDiagonal() * pairs_.values)};
  }

  std::optional<Hessian> hessian(const Weights<double>& W) const override {
    const Index K = W[0].rows();
    return Hessian{Matrix<double>::Zero(K, K), Matrix<double>::Zero(K, W[0].cols())};
  }

 private:
  WeighedPairs pairs_;
};

class ShrinkingLoss : public TermOf<ShrinkingLoss> {
 public:
  explicit ShrinkingLoss(Matrix<double> R) : R_(std::move(R)) {}

  template <class Scalar>
  Scalar value(const Weights<Scalar>& W) const {
    return Scalar(0.5) * W[0].cwiseProduct(W[0]).cwiseProduct(R_.cast<Scalar>()).sum();
  }

  Weights<double> gradient(const Weights<double>& W) const override { return {R_.cwiseProduct(W[0])}; }

  std::optional<Hessian> hessian(const Weights<double>&) const override {
    return Hessian{Matrix<double>::Zero(R_.rows(), R_.rows()), R_};
  }

 private:
  Matrix<double> R_;
};

class QuadraticLoss : public TermOf<QuadraticLoss> {
 public:
  QuadraticLoss(Matrix<double> A, Matrix<double> B, double constant)
      : A_(std::move(A)), B_(std::move(B)), constant_(constant) {}

  template <class Scalar>
  Scalar value(const Weights<Scalar>& W) const {
    const Matrix<Scalar> half = Scalar(0.5) * (A_.cast<Scalar>() * W[0]) - B_.cast<Scalar>();
    return W[0].cwiseProduct(half).sum() + Scalar(constant_);
  }

  Weights<double> gradient(const Weights<double>& W) const override { return {A_ * W[0] - B_}; }

  std::optional<Hessian> hessian(const Weights<double>&) const override {
    return Hessian{A_, Matrix<double>::Zero(B_.rows(), B_.cols())};
  }

 private:
  Matrix<double> A_;
  Matrix<double> B_;
  double constant_;
};

/// Where the weights and biases of a layer stand.
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

class NetworkLoss : public TermOf<NetworkLoss> {
 public:
  NetworkLoss(WeighedPairs pairs, bool has_biases, std::optional<LayerNorm<double>> norm)
      : pairs_(std::move(pairs)), layers_{has_biases}, norm_(std::move(norm)) {}

  template <class Scalar>
  Scalar value(const Weights<Scalar>& W) const {
    const Matrix<Scalar> E =
        answers_of<Scalar>(layers_, norm_, W, pairs_.keys.cast<Scalar>()) - pairs_.values.cast<Scalar>();
    return half_squares<Scalar>(E, pairs_.weights);
  }

  Weights<double> gradient(const Weights<double>& W) const override {
    const Passed<double> passed = pass<double>(layers_, W, pairs_.keys);
    const Matrix<double>& Y = passed.outputs.back();
    Matrix<double> G = Y - pairs_.values;
    if (norm_) {
      const auto standardised = norm_->standardise(Y);
      const Matrix<double> E = pairs_.keys + norm_->stretch(standardised.rows) - pairs_.values;
      G = LayerNorm<double>::gradient(E * norm_->gain.asDiagonal(), standardised);
    }
    G = pairs_.weights.asDiagonal() * G;
    Weights<double> gradients(W.size());
    for (std::size_t layer = passed.inputs.size(); layer-- > 0;) {
      gradients[layers_.weights(layer)] = passed.inputs[layer].transpose() * G;
      if (layers_.has_biases) gradients[layers_.bias(layer)] = G.colwise().sum().transpose();
      if (layer == 0) break;
      const Matrix<double> back = G * W[layers_.weights(layer)].transpose();
      G = back.cwiseProduct(gelu_derivative(passed.outputs[layer - 1]));
    }
    return gradients;
  }

  /// A single linear layer is the squared loss.
  std::optional<Hessian> hessian(const Weights<double>& W) const override {
    if (norm_ || W.size() > 1) return std::nullopt;
    return Hessian{gram(pairs_), Matrix<double>::Zero(W[0].rows(), W[0].cols())};
  }

 private:
  WeighedPairs pairs_;
  Layers layers_;
  std::optional<LayerNorm<double>> norm_;
};

}  // namespace

WeighedPairs one_pair(const Matrix<double>& key, const Matrix<double>& value, double weight) {
  return {key, value, Vector<double>::Constant(1, weight)};
}

std::shared_ptr<const LossTerm> squared_loss(WeighedPairs pairs) {
  return std::make_shared<SquaredLoss>(std::move(pairs));
}

std::shared_ptr<const LossTerm> dot_loss(WeighedPairs pairs) {
  return std::make_shared<DotLoss>(std::move(pairs));
}

std::shared_ptr<const LossTerm> shrinking_loss(Matrix<double> R) {
  return std::make_shared<ShrinkingLoss>(std::move(R));
}

std::shared_ptr<const LossTerm> quadratic_loss(Matrix<double> A, Matrix<double> B, double constant) {
  return std::make_shared<QuadraticLoss>(std::move(A), std::move(B), constant);
}

Matrix<double> network_answers(const Weights<double>& W, bool has_biases,
                               const std::optional<LayerNorm<double>>& norm, const Matrix<double>& X) {
  return answers_of<double>({has_biases}, norm, W, X);
}

std::shared_ptr<const LossTerm> network_loss(WeighedPairs pairs, bool has_biases,
                                             std::optional<LayerNorm<double>> norm) {
  return std::make_shared<NetworkLoss>(std::move(pairs), has_biases, std::move(norm));
}

}  // namespace palimpsest
