#pragma once

#include "core/numbers/jet.h"
#include "core/numbers/layer_norm.h"
#include "core/numbers/matrix_functions.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// The matrices that a loss depends on: S alone, or those of a network.
template <class Scalar>
using Weights = std::vector<Matrix<Scalar>>;

/// W + along e: the weights on a line.
Weights<Jet> on_a_line(const Weights<double>& W, const Weights<double>& along);

/// sum_ij X_ij Y_ij over all matrices.
double dot(const Weights<double>& X, const Weights<double>& Y);

/// The second derivatives of a loss in one matrix S [K, V] where they do not depend on S: the Hessian takes a
/// direction D to `keys` D + `cells` o D.
struct Hessian {
  Matrix<double> keys;   // [K, K]
  Matrix<double> cells;  // [K, V]
};

/// A scalar function of weights. Its gradient is written by hand and its value is generic, so that jets can
/// check the one with the other.
struct LossTerm {
  std::function<double(const Weights<double>&)> value;
  std::function<Jet(const Weights<Jet>&)> value_on_a_line;
  std::function<Weights<double>(const Weights<double>&)> gradient;
  std::function<std::optional<Hessian>(const Weights<double>&)> hessian;  // nothing where it depends on them

  double loss(const Weights<double>& W) const { return value(W); }
  Jet loss(const Weights<Jet>& W) const { return value_on_a_line(W); }
};

/// Keys and values of some tokens, and how much each counts.
struct WeighedPairs {
  Matrix<double> keys;     // [L, K]
  Matrix<double> values;   // [L, V]
  Vector<double> weights;  // [L]
};

/// One pair that counts `weight`: key [1, K], value [1, V].
WeighedPairs one_pair(const Matrix<double>& key, const Matrix<double>& value, double weight = 1);

/// sum_j w_j / 2 |S^T k_j - v_j|^2: the memory should return v_j for k_j; with v = 0, the zero vector.
std::shared_ptr<const LossTerm> squared_loss(WeighedPairs pairs);

/// -sum_j w_j <S^T k_j, v_j>: the prediction should point along v_j.
std::shared_ptr<const LossTerm> dot_loss(WeighedPairs pairs);

/// 1/2 |sqrt(R) o S|_F^2, R [K, V]: the memory should be small where it decays, R = 1 - decay.
std::shared_ptr<const LossTerm> shrinking_loss(Matrix<double> R);

/// 1/2 tr S^T A S - <S, B> + constant, A [K, K] symmetric, B [K, V].
std::shared_ptr<const LossTerm> quadratic_loss(Matrix<double> A, Matrix<double> B, double constant);

/// The forward pass of an inner network (spec 3.10, 3.12) for rows X [L, K], W in the order W1, b1, W2, b2 or
/// W alone; biases are [E, 1]. With a layer norm X + LN(network(X)). Returns [L, V].
Matrix<double> network_answers(const Weights<double>& W, bool has_biases,
                               const std::optional<LayerNorm<double>>& norm, const Matrix<double>& X);

/// sum_j w_j / 2 |f(k_j) - v_j|^2 for such a network.
std::shared_ptr<const LossTerm> network_loss(WeighedPairs pairs, bool has_biases,
                                             std::optional<LayerNorm<double>> norm);

/// A part of an inner loss, and what multiplies its gradient in a step.
struct WeighedTerm {
  std::shared_ptr<const LossTerm> of;
  Matrix<double> preconditioner = {};  // [K, K]; empty: the identity
};

/// One step of inner learning, as a computation: with L the sum of the terms (each preconditioned by its P),
///   D = momentum M - rate sum P grad L_i(at),   W = normalise(kept from + D)   or with NS5(D) for D.
struct InnerProblem {
  Index first_token = 0;  // the tokens whose keys and values make the loss
  Index token_count = 1;
  std::vector<std::string> names = {"S"};  // of the weights
  std::vector<WeighedTerm> terms = {};
  Weights<double> at = {};      // where the gradient is taken: S_{t-1}, its decayed copy, S_tau
  Weights<double> from = {};    // what the step is added to
  double kept = 1;              // the share of `from` that stays: 1 - weight decay
  double rate = 1;              // the learning rate
  double momentum = 0;          // the factor of M
  Weights<double> moving = {};  // M before the step; empty: a rule without momentum
  std::optional<NewtonSchulz> muon = {};
  std::optional<RowVector<double>> column_norm = {};  // [V], the norms that columns keep

  template <class Scalar>
  Scalar loss(const Weights<Scalar>& W) const {
    Scalar sum = 0;
    for (const WeighedTerm& term : terms) sum += term.of->loss(W);
    return sum;
  }
  Weights<double> gradient(const Weights<double>& W) const;
  /// sum_i P_i grad L_i(W): the gradient that a step multiplies by its rate.
  Weights<double> preconditioned_gradient(const Weights<double>& W) const;

  /// The weights after the step, and the momentum M after it where the rule has one.
  struct After {
    Weights<double> weights;
    Weights<double> moving;
  };
  After after(Recorder* recorder = nullptr) const;

  /// Whether the gradient is taken where the step starts, as stability needs.
  bool is_fresh() const { return at == from; }
};

/// What a variant makes its problems from: token `token` of one head, and the engine's own states in f64.
struct InnerContext {
  const Rule& rule;
  const Sequence& sequence;
  Index token;
  const NamedStates& before;       // after `token` tokens
  const NamedStates& batch_start;  // at the start of the inner batch; without batches the same
};

/// The state called `name`; throws Error naming it.
const Matrix<double>& state_of(const NamedStates& states, std::string_view name);

/// Row `token` of the array `name`: [1, columns].
Matrix<double> row_of(const InnerContext& context, std::string_view name);

/// One step of the token from S, where its gradient is taken.
std::vector<InnerProblem> step_from(const InnerContext& context, const Matrix<double>& S,
                                    std::vector<WeighedTerm> terms, double rate = 1);

// Inner problems of row programs with one state (spec 1.1), for InnerLoss::problems: one per row of the
// token, each at the state that the row before it left. The weights are the states side by side: S, or [S |
// z] where a rule is normalised.

/// -<S^T k, v> + 1/2 |sqrt(1 - decay) o S|^2 at S_{t-1}, learning rate 1 (spec 3.2 to 3.4, 3.8): rules that
/// erase nothing.
std::vector<InnerProblem> dot_problems(const InnerContext& context);

/// 1/2 |S^T k - v|^2 at the decayed state, learning rate beta (spec 3.5 to 3.8, 3.13): the delta family.
std::vector<InnerProblem> squared_problems(const InnerContext& context);

/// d/2 |S^T k|^2 - <S^T k, v> where the erase key is a = d k, learning rate beta, at the decayed state. Where
/// the erase reads S_{t-1}: at S_{t-1}, times beta, plus the decay as a pull towards zero, learning rate 1
/// (spec 3.13). Throws Unsupported where a is no multiple of k: the step is then no gradient.
std::vector<InnerProblem> erase_key_problems(const InnerContext& context);

/// -<S^T k, v> + 1/2 |Diag(sqrt(1 - alpha)) S|^2 + 1/2 |S^T a|^2 at S_{t-1}, learning rate 1, the last term
/// preconditioned by Diag(b / a): a step that reads with a, erases along b and writes k v^T (spec 3.13), with
/// no strengths other than those in its rows. Throws Unsupported where b has a channel that a lacks.
std::vector<InnerProblem> preconditioned_problems(const InnerContext& context);

}  // namespace palimpsest
