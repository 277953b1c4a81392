#pragma once

#include "core/engines/engine.h"
#include "core/numbers/layer_norm.h"

namespace palimpsest {

/// The layers of an inner network and the names of their tensors. TTT-Linear has one layer, TTT-MLP two with
/// a GELU between them.
struct NetworkPlan {
  std::vector<std::string> weights;  // of each layer: {"S"}, {"W1", "W2"}
  std::vector<std::string> biases;   // {"bias"}, {"b1", "b2"}; none: the layers have no bias

  std::size_t layers() const { return weights.size(); }
  bool has_biases() const { return !biases.empty(); }
  /// Weights and biases in the order in which they are carried: the first layer's weights, its bias, ...
  std::vector<std::string> parameters() const;
  /// "" for the only layer, "1" and "2" for those of two.
  std::string suffix(std::size_t layer) const { return layers() == 1 ? "" : std::to_string(layer + 1); }
};

template <class Scalar>
class InnerNetwork;

/// The layer norm on the outputs of a sequence's network; nothing where it has none.
template <class Scalar>
std::optional<LayerNorm<Scalar>> network_norm(const Sequence& sequence) {
  if (sequence.option("layer_norm") != "true") return std::nullopt;
  return LayerNorm<Scalar>{sequence.at("ln_weight").all<Scalar>().transpose(),
                           sequence.at("ln_bias").all<Scalar>().transpose(),
                           static_cast<Scalar>(sequence.parameter("ln_eps"))};
}

/// The tokens of one piece of an inner batch; or, for an engine that takes whole heads, of a sequence.
template <class Scalar>
struct NetworkRows {
  Matrix<Scalar> Q;           // [L, K], scaled
  Matrix<Scalar> K;           // [L, K]
  Matrix<Scalar> V;           // [L, V]
  Vector<Scalar> eta;         // [L], the learning rates
  Vector<Scalar> sigma;       // [L], the position factors
  bool starts_batch = false;  // the sums are known to be 0, and nothing is computed with them
  bool ends_batch = false;
  Index batch = 1;                                           // tokens of an inner batch
  std::shared_ptr<const InnerNetwork<Scalar>> network = {};  // which learns them
};

/// A memory that is a small network f and learns f(k) = v by gradient steps on 1/2 |f(k) - v|^2, spec 3.10
/// and 3.12. All gradients of an inner batch are taken at the weights W before it; token i sees W_i = W -
/// sigma_i sum_{j<=i} eta_j grad_j, and the next batch starts from the weights of the last token. With a
/// layer norm, f(x) = x + LN(network(x)).
///
/// Carried: the parameters at the start of the batch (a bias is [1, E]), then as many sums of the batch's
/// gradients so far, eta_j grad_j; the sums are 0 at a batch start.
template <class Scalar>
class InnerNetwork {
 public:
  InnerNetwork(NetworkPlan plan, std::optional<LayerNorm<Scalar>> norm)
      : plan_(std::move(plan)), norm_(std::move(norm)) {}

  const NetworkPlan& plan() const { return plan_; }
  const std::optional<LayerNorm<Scalar>>& norm() const { return norm_; }

 private:
  NetworkPlan plan_;
  std::optional<LayerNorm<Scalar>> norm_;
};

/// Recurrent: primal, one token; computes its own weights and evaluates them. Else dual: the same outputs for
/// any number of tokens of one batch without weights per token: token j changes the output of token i by
/// their similarity times j's gradient. Returns [L, V].
template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const NetworkRows<Scalar>& rows,
                             Carried<Scalar>& carried);

}  // namespace palimpsest
