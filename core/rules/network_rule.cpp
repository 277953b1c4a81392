#include "core/rules/network_rule.h"

#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/operator/blocks.h"
#include "core/steps/phase.h"

namespace palimpsest {

namespace {

bool is_normalised(const Sequence& sequence) { return sequence.option("layer_norm") == "true"; }

template <class Scalar>
std::optional<LayerNorm<Scalar>> layer_norm_of(const Sequence& sequence) {
  if (!is_normalised(sequence)) return std::nullopt;
  return LayerNorm<Scalar>{sequence.at("ln_weight").all<Scalar>().transpose(),
                           sequence.at("ln_bias").all<Scalar>().transpose(),
                           static_cast<Scalar>(sequence.parameter("ln_eps"))};
}

template <class Scalar>
class NetworkWalk : public OperatorWalk<NetworkRows, Scalar> {
 public:
  NetworkWalk(const Sequence& sequence, NetworkPlan plan, Form form, Index chunk_size,
              const Engines<Scalar>& engines)
      : OperatorWalk<NetworkRows, Scalar>(sequence, form, chunk_size, engines.network,
                                          inner_batch(sequence.settings)),
        network_(
            std::make_shared<const InnerNetwork<Scalar>>(std::move(plan), layer_norm_of<Scalar>(sequence))) {}

  /// The weights that the batch starts from, then the sums of its gradients: 0.
  Carried<Scalar> initial() const override {
    const NetworkPlan& plan = network_->plan();
    Carried<Scalar> carried;
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      carried.push_back(given(plan.weights[layer], sequence_.dk, sequence_.dv));
      if (plan.has_biases()) {
        carried.push_back(given(plan.biases[layer], carried.back().cols(), 1).transpose());
      }
    }
    const std::size_t parameters = carried.size();
    for (std::size_t p = 0; p < parameters; ++p) {
      carried.push_back(Matrix<Scalar>::Zero(carried[p].rows(), carried[p].cols()));
    }
    return carried;
  }

  /// After the last batch, which may be shorter, the weights are those of its last token.
  NamedStates states(const Carried<Scalar>& carried) const override {
    const NetworkPlan& plan = network_->plan();
    NamedStates named;
    for (const std::string& name : plan.parameters()) {
      const Matrix<double> value = carried[named.size()].template cast<double>();
      const bool is_bias = std::ranges::find(plan.biases, name) != plan.biases.end();
      named.emplace_back(name, is_bias ? Matrix<double>(value.transpose()) : value);
    }
    return named;
  }

  /// The weights of the last token itself: W - sigma A.
  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    const Index place = (tokens - 1) % inner_batch(sequence_.settings);
    const Scalar sigma = sequence_.has("sigma") ? static_cast<Scalar>(sequence_.at("sigma")(place, 0)) : 1;
    const std::size_t parameters = carried.size() / 2;
    Carried<Scalar> own = carried;
    for (std::size_t p = 0; p < parameters; ++p) own[p] -= sigma * carried[parameters + p];
    return states(own);
  }

  std::optional<Work> cost(Index chunk_size) const override {
    return network_cost(this->sequence_, network_->plan(), this->form_, chunk_size);
  }

  /// Rows of every layer's inputs and gradients, and one n x n matrix of who reads whom for each layer.
  BlockNeed need(bool recorded) const override {
    const auto n = static_cast<double>(pieces_.largest_piece());
    const Carried<Scalar> carried = initial();
    double widths = 2 * static_cast<double>(sequence_.dk + sequence_.dv);
    for (const Matrix<Scalar>& parameter : carried) widths += static_cast<double>(parameter.cols());
    const double scores = form_ == Form::recurrent ? 0 : 2 * n * n;
    const double weights = 2 * static_cast<double>(number_count(carried));
    return {this->number_size(recorded) * (scores + 4 * n * widths + weights),
            "its weights and n x n matrices"};
  }

 private:
  /// The initial value of a parameter: under its own name where it is required, else initial_NAME or
  /// initial_state, else 0.
  Matrix<Scalar> given(const std::string& parameter, Index rows, Index columns) const {
    for (const std::string& name : {parameter, "initial_" + parameter, std::string("initial_state")}) {
      if (sequence_.has(name)) return sequence_.at(name).template all<Scalar>();
    }
    require_state(sequence_, rows, columns);
    return Matrix<Scalar>::Zero(rows, columns);
  }

  /// The position factors begin anew with every batch.
  NetworkRows<Scalar> tokens(const Block& block) const override {
    const Rows<Scalar> given = this->rows(block);
    const Index batch = inner_batch(sequence_.settings);
    Vector<Scalar> sigma = Vector<Scalar>::Ones(block.count);
    for (Index t = 0; t < block.count && sequence_.has("sigma"); ++t)
      sigma(t) = static_cast<Scalar>(sequence_.at("sigma")((block.first_token + t) % batch, 0));
    const Index end = block.first_token + block.count;
    return {.Q = given.scaled_q(),
            .K = given("k"),
            .V = given("v"),
            .eta = given("eta"),
            .sigma = std::move(sigma),
            .ends_batch = end % batch == 0 || end == sequence_.tokens,
            .batch = batch,
            .network = network_};
  }

  void record_given(const Block& block, const Carried<Scalar>&, Recorder& recorder) const override {
    this->record_inputs(block, recorder);
    const NetworkRows<Scalar> rows = tokens(block);
    recorder("eta", rows.eta);
    if (sequence_.has("sigma")) recorder("sigma", rows.sigma);
    if (sequence_.has("sigma")) recorder("sigma_last", rows.sigma.tail(1));
    if (!is_normalised(sequence_)) return;
    recorder("ln_weight", sequence_.at("ln_weight").template all<Scalar>());
    recorder("ln_bias", sequence_.at("ln_bias").template all<Scalar>());
    recorder("ln_eps", sequence_.parameter("ln_eps"));
  }

  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;
  using Walk<Scalar>::pieces_;

  std::shared_ptr<const InnerNetwork<Scalar>> network_;
};

NetworkShown shown(const Sequence& sequence, Form form, Index chunk_size) {
  return {.form = form,
          .normalised = is_normalised(sequence),
          .sigma = sequence.has("sigma"),
          .scaled = sequence.parameter("scale") != 1,
          .divided = chunk_size < std::min(inner_batch(sequence.settings), sequence.tokens)};
}

/// The parameters of a network among its states.
Weights<double> weights_of(const NetworkPlan& plan, const NamedStates& states) {
  Weights<double> weights;
  for (const std::string& name : plan.parameters()) weights.push_back(state_of(states, name));
  return weights;
}

std::optional<std::string> network_missing(Form form, const Settings&) {
  if (form != Form::parallel) return std::nullopt;
  return "The gradient goes through a non-linear function of the weights, so a batch needs the weights that "
         "the previous one left: no form is parallel over batches.";
}

std::string network_nonlinear(const Settings&) {
  return "What a token writes is a gradient through a non-linear function of the weights that earlier "
         "values left: no weights on values make an output, and no shares of tokens make an entry of the "
         "memory.";
}

}  // namespace

std::optional<LayerNorm<double>> network_norm(const Sequence& sequence) {
  return layer_norm_of<double>(sequence);
}

std::vector<Input> network_inputs() {
  const Condition layer_norm = {{"layer_norm"}, "true"};
  return {
      demonstrated({"eta", {"n"}, Range::non_negative, "learning rate"},
                   {.value = 0.05, .learning_rate = true}),
      {"sigma",
       {"batch"},
       Range::non_negative,
       "position factor inside the inner batch: token i sees W_ref - sigma_i sum eta_j grad_j (ttt-lm: 1/i "
       "plus a learned offset)",
       "1"},
      demonstrated({"ln_weight", {"d"}, Range::finite, "layer-norm gain", {}, layer_norm}, {.value = 1}),
      {"ln_bias", {"d"}, Range::finite, "layer-norm bias", {}, layer_norm}};
}

std::vector<Parameter> network_parameters() {
  return {{.name = "batch",
           .minimum = 1,
           .maximum = 1e15,
           .meaning = "tokens per inner batch",
           .whole = true,
           .stand_in = 8},
          {.name = "ln_eps",
           .minimum = 1e-30,
           .maximum = 1e30,
           .meaning = "layer-norm epsilon",
           .standard = 1e-6}};
}

std::function<std::vector<InnerProblem>(const InnerContext&)> network_problems(NetworkPlanOf plan_of) {
  return [plan_of](const InnerContext& context) -> std::vector<InnerProblem> {
    const Sequence& sequence = context.sequence;
    const NetworkPlan plan = plan_of(sequence.settings);
    const Index place = context.token % inner_batch(sequence.settings);
    const Index first = context.token - place;
    const auto rows = [&](const char* name) { return sequence.at(name).rows<double>(first, place + 1); };
    const Weights<double> W = weights_of(plan, context.batch_start);
    return {{.first_token = first,
             .token_count = place + 1,
             .names = plan.parameters(),
             .terms = {{network_loss({rows("k"), rows("v"), rows("eta")}, plan.has_biases(),
                                     network_norm(sequence))}},
             .at = W,
             .from = W,
             .rate = sequence.has("sigma") ? sequence.at("sigma")(place, 0) : 1}};
  };
}

std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> network_memory(
    NetworkPlanOf plan_of) {
  return [plan_of](const Sequence& sequence, const NamedStates& states, const Matrix<double>& keys) {
    const NetworkPlan plan = plan_of(sequence.settings);
    return network_answers(weights_of(plan, states), plan.has_biases(), network_norm(sequence), keys);
  };
}

std::shared_ptr<const Rule> network_rule(NetworkPlanOf plan, std::optional<ParallelRule> parallel) {
  return walk_rule(
      [plan]<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                           const Engines<Scalar>& engines) {
        return std::make_unique<NetworkWalk<Scalar>>(sequence, plan(sequence.settings), form, chunk_size,
                                                     engines);
      },
      {.steps =
           [plan](const Sequence& sequence, Form form, Index chunk_size) {
             return network_steps(plan(sequence.settings), shown(sequence, form, chunk_size));
           },
       .missing = network_missing,
       .nonlinear = network_nonlinear,
       .parallel = std::move(parallel)});
}

}  // namespace palimpsest
