#include "core/costs/costs.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/rules/walk_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// sigma of the token with this place in its batch.
double sigma_at(const Sequence& sequence, Index place) {
  return sequence.has("sigma") ? sequence.at("sigma")(place, 0) : 1;
}

using NetworkPlanOf = std::function<NetworkPlan(const Settings&)>;

/// Recurrent: primal, every token with its own weights. Chunkwise: dual, in pieces of at most one chunk that
/// never cross the end of an inner batch, so that the chunk changes no result.
template <class Scalar>
class NetworkWalk : public OperatorWalk<NetworkRows, Scalar> {
 public:
  NetworkWalk(const Sequence& sequence, NetworkPlan plan, Form form, Index chunk_size,
              const Engines<Scalar>& engines)
      : OperatorWalk<NetworkRows, Scalar>(sequence, form, chunk_size, engines.network,
                                          inner_batch(sequence.settings)),
        network_(
            std::make_shared<const InnerNetwork<Scalar>>(std::move(plan), network_norm<Scalar>(sequence))) {}

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
      const bool is_bias = is_among(name, plan.biases);
      named.emplace_back(name, is_bias ? Matrix<double>(value.transpose()) : value);
    }
    return named;
  }

  /// The weights of the last token itself: W - sigma A.
  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    const Index place = (tokens - 1) % inner_batch(sequence_.settings);
    const auto sigma = static_cast<Scalar>(sigma_at(sequence_, place));
    const std::size_t parameters = carried.size() / 2;
    Carried<Scalar> own = carried;
    for (std::size_t p = 0; p < parameters; ++p) own[p] -= sigma * carried[parameters + p];
    return states(own);
  }

  /// Rows of every layer's inputs and gradients, and one n x n matrix of scores for each layer.
  Footprint need(bool recorded) const override {
    const auto n = static_cast<double>(pieces_.largest_piece());
    const Carried<Scalar> carried = initial();
    double widths = 2 * static_cast<double>(sequence_.dk + sequence_.dv);
    for (const Matrix<Scalar>& parameter : carried) widths += static_cast<double>(parameter.cols());
    const double scores = form_ == Form::recurrent ? 0 : 2 * n * n;
    const double weights = 2 * static_cast<double>(number_count(carried));
    return {.work = this->number_size(recorded) * (scores + 4 * n * widths + weights),
            .what = "its weights and n x n matrices"};
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

  /// The position factors start again with every batch.
  NetworkRows<Scalar> tokens(const Block& block) const override {
    const Rows<Scalar> given = this->rows(block);
    const Index batch = inner_batch(sequence_.settings);
    Vector<Scalar> sigma(block.count);
    for (Index t = 0; t < block.count; ++t)
      sigma(t) = static_cast<Scalar>(sigma_at(sequence_, (block.first_token + t) % batch));
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
    if (!network_->norm()) return;
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
          .normalised = sequence.option("layer_norm") == "true",
          .sigma = sequence.has("sigma"),
          .scaled = is_scaled(sequence.settings),
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
  return "The gradient depends non-linearly on the weights, so each batch needs the weights after the "
         "previous one.";
}

std::string network_nonlinear(const Settings&) {
  return "What a token writes depends non-linearly on earlier values, through the gradient. So no output is "
         "a weighted sum of values, and no entry of the memory is a sum over tokens.";
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
                                     network_norm<double>(sequence))}},
             .at = W,
             .from = W,
             .rate = sigma_at(sequence, place)}};
  };
}

/// `variant` with what is common to all rules whose memory is a network trained by gradient steps
/// (spec 3.10, 3.12).
Variant network_variant(Variant variant, const NetworkPlanOf& plan,
                        std::optional<ParallelRule> parallel = {}) {
  std::ranges::copy(network_inputs(), std::inserter(variant.inputs, variant.inputs.begin()));
  variant.parameters = network_parameters();
  variant.loss.problems = network_problems(plan);
  variant.memory.answers = [plan](const Sequence& sequence, const NamedStates& states,
                                  const Matrix<double>& keys) {
    const NetworkPlan own = plan(sequence.settings);
    return network_answers(weights_of(own, states), own.has_biases(), network_norm<double>(sequence), keys);
  };
  variant.rule = walk_rule(
      [plan]<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                           const Engines<Scalar>& engines) {
        return std::make_unique<NetworkWalk<Scalar>>(sequence, plan(sequence.settings), form, chunk_size,
                                                     engines);
      },
      {.steps =
           [plan](const Sequence& sequence, Form form, Index chunk_size) {
             return network_steps(plan(sequence.settings), shown(sequence, form, chunk_size));
           },
       .cost =
           [plan](const Sequence& sequence, Form form, Index chunk_size) {
             return network_cost(sequence, plan(sequence.settings), form, chunk_size);
           },
       .missing = network_missing,
       .nonlinear = network_nonlinear,
       .parallel = std::move(parallel)});
  return variant;
}

/// Without layer norm, spec 3.10 as a row program in two parts: the weights W that the batch began with, and
/// what its tokens have gathered since, A. Every token corrects the prediction of W and is read from W +
/// sigma A; at the next batch A is added to W.
constexpr auto ttt_linear_rows = []<class Scalar>(const Rows<Scalar>& rows) -> Program<Scalar> {
  const Sequence& sequence = rows.sequence;
  const Index batch = inner_batch(sequence.settings);
  Matrix<Scalar> transition = Matrix<Scalar>::Zero(rows.count, 4);
  Matrix<Scalar> read_sight = Matrix<Scalar>::Ones(rows.count, 2);
  for (Index t = 0; t < rows.count; ++t) {
    const Index place = (rows.first + t) % batch;
    Eigen::Map<Matrix<Scalar>> T(transition.row(t).data(), 2, 2);
    T(0, 0) = 1;
    if (place == 0)
      T(0, 1) = static_cast<Scalar>(sigma_at(sequence, batch - 1));
    else
      T(1, 1) = 1;
    read_sight(t, 1) = static_cast<Scalar>(sigma_at(sequence, place));
  }
  return {.q = rows.scaled_q(),
          .k = rows("k"),
          .v = rows("v"),
          .beta = rows("eta"),
          .transition = transition,
          .inject = rows.every_row({0, 1}),
          .erase_sight = rows.every_row({1, 0}),
          .read_sight = read_sight};
};

std::shared_ptr<const Rule> ttt_linear_row_program() {
  const auto structure = [](const Settings&) {
    return Structure{.erase = Erase::decayed, .beta = true, .parts = "WA"};
  };
  const auto initial = [](const Sequence& sequence) {
    Matrix<double> state = Matrix<double>::Zero(2 * sequence.dk, sequence.dv);
    state.topRows(sequence.dk) = given_or_zero(sequence, "initial_state", sequence.dk, sequence.dv);
    return state;
  };
  const auto named = [](const Matrix<double>& state, const Sequence& sequence) {
    const Index K = sequence.dk;
    const double sigma =
        sequence.tokens == 0 ? 0 : sigma_at(sequence, (sequence.tokens - 1) % inner_batch(sequence.settings));
    return NamedStates{{"S", state.topRows(K) + sigma * state.bottomRows(K)}};
  };
  return std::make_shared<RowRule>(RowDeclaration{.structure = structure,
                                                  .encoder = ttt_linear_rows,
                                                  .notation = learning_notation,
                                                  .states = {initial, named}});
}

}  // namespace

/// Spec 3.10: S_t = S_tau - sigma_t sum_{tau<j<=t} eta_j k_j (S_tau^T k_j - v_j)^T, tau the start of the
/// inner batch; with layer norm f(x) = x + LN(S^T x + c) in place of S^T x.
Variant ttt_linear() {
  const Condition layer_norm = {{"layer_norm"}, "true"};
  const auto is_linear = [](const Settings& settings) { return settings.option("layer_norm") == "false"; };
  return network_variant(
      {
          .id = "ttt_linear",
          .label = "TTT-Linear",
          .words =
              "The memory is a linear model, trained during reading on one small batch of tokens at a time.",
          .paper = "Sun et al., Learning to (Learn at Test Time): RNNs with Expressive Hidden States, 2024",
          .options = {{"layer_norm", {"false", "true"}, "true: f(x) = x + LN(x S + bias), dk = dv = d"}},
          .inputs = {{"initial_state",
                      {"dk", "dv"},
                      Range::finite,
                      "without layer norm: weights",
                      "0",
                      {{"layer_norm"}, "false"}},
                     {"initial_S", {"d", "d"}, Range::finite, "with layer norm: weights", "0", layer_norm},
                     {"initial_bias", {"d"}, Range::finite, "with layer norm: bias", "0", layer_norm}},
          .states = {{"S"}, {"bias", layer_norm}},
          .loss = {.words =
                       "Make the model return v for k; all gradients of a batch use the weights before it.",
                   .latex = "\\sum_j \\tfrac{\\eta_j}{2}\\|f(k_j) - v_j\\|^2",
                   .step = "S_t = S_\\tau - \\sigma_t\\nabla\\mathcal L_{\\tau<j\\le t}(S_\\tau)"},
      },
      [is_linear](const Settings& settings) {
        return is_linear(settings) ? NetworkPlan{{"S"}, {}} : NetworkPlan{{"S"}, {"bias"}};
      },
      ParallelRule{ttt_linear_row_program(), is_linear, is_linear});
}

/// Spec 3.12: the memory is f(x) = gelu(x W1 + b1) W2 + b2, or x + LN(f(x)), trained as in TTT-Linear.
Variant ttt_mlp() {
  const StandIn small = {.value = 0.2, .random = true};
  return network_variant(
      {
          .id = "ttt_mlp",
          .label = "TTT-MLP",
          .words = "The memory is a network with one hidden layer, trained during reading.",
          .paper = "Sun et al., Learning to (Learn at Test Time): RNNs with Expressive Hidden States, 2024",
          .options = {{"layer_norm",
                       {"false", "true"},
                       "true: layer norm and residual around the network, dk = dv = d"}},
          .inputs = {demonstrated({"W1", {"dk", "h"}, Range::finite, "initial weights"}, small),
                     {"b1", {"h"}, Range::finite, "initial bias"},
                     demonstrated({"W2", {"h", "dv"}, Range::finite, "initial weights"}, small),
                     {"b2", {"dv"}, Range::finite, "initial bias"}},
          .states = {{"W1"}, {"b1"}, {"W2"}, {"b2"}},
          .loss = {.words =
                       "Make the network return v for k; all gradients of a batch use the weights before it.",
                   .latex = "\\sum_j \\tfrac{\\eta_j}{2}\\|f(k_j) - v_j\\|^2",
                   .step = "W_t = W_\\tau - \\sigma_t\\nabla\\mathcal L_{\\tau<j\\le t}(W_\\tau)"},
      },
      [](const Settings&) {
        return NetworkPlan{{"W1", "W2"}, {"b1", "b2"}};
      });
}

}  // namespace palimpsest
