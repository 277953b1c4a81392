#include "core/rules/network_rule.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

bool is_linear(const Settings& settings) { return settings.option("layer_norm") == "false"; }

NetworkPlan plan(const Settings& settings) {
  return is_linear(settings) ? NetworkPlan{{"S"}, {}} : NetworkPlan{{"S"}, {"bias"}};
}

/// sigma of the token with this place in its batch.
double sigma_at(const Sequence& sequence, Index place) {
  return sequence.has("sigma") ? sequence.at("sigma")(place, 0) : 1;
}

/// Without layer norm, spec 3.10 as a row program in two parts: the weights W that the batch began with, and
/// what its tokens have gathered since, A. Every token corrects what W answers and is read from W + sigma A;
/// at the next batch W takes A over.
template <class Scalar>
Program<Scalar> ttt_linear_rows(const Rows<Scalar>& rows) {
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
}

std::shared_ptr<const Rule> ttt_linear_row_program() {
  const auto structure = [](const Settings&) {
    return Structure{.erase = Erase::decayed, .beta = true, .parts = "WA"};
  };
  const auto encoder =
      make_encoder([]<class Scalar>(const Rows<Scalar>& rows) { return ttt_linear_rows(rows); });
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
  return std::make_shared<RowRule>(RowDeclaration{
      .structure = structure, .encoder = encoder, .notation = learning_notation, .states = {initial, named}});
}

}  // namespace

/// Spec 3.10: S_t = S_tau - sigma_t sum_{tau<j<=t} eta_j k_j (S_tau^T k_j - v_j)^T, tau the start of the
/// inner batch; with layer norm f(x) = x + LN(S^T x + c) in place of S^T x.
Variant ttt_linear() {
  const Condition layer_norm = {{"layer_norm"}, "true"};
  Variant variant = {
      .id = "ttt_linear",
      .label = "TTT-Linear",
      .words =
          "The memory is a linear model that is trained while it reads, one small batch of tokens at a time.",
      .paper = "Sun et al., Learning to (Learn at Test Time): RNNs with Expressive Hidden States, 2024",
      .options = {{"layer_norm", {"false", "true"}, "true: f(x) = x + LN(x S + bias), dk = dv = d"}},
      .inputs = network_inputs(),
      .parameters = network_parameters(),
      .states = {{"S"}, {"bias", layer_norm}},
      .loss = {.words =
                   "Make the model answer v when asked with k: the gradients of a batch are all taken at the "
                   "weights before it.",
               .latex = "\\sum_j \\tfrac{\\eta_j}{2}\\|f(k_j) - v_j\\|^2",
               .step = "S_t = S_\\tau - \\sigma_t\\nabla\\mathcal L_{\\tau<j\\le t}(S_\\tau)",
               .problems = network_problems(plan)},
      .memory = {.answers = network_memory(plan)},
      .rule = network_rule(plan, ParallelRule{ttt_linear_row_program(), is_linear, is_linear}),
  };
  variant.inputs.push_back({"initial_state",
                            {"dk", "dv"},
                            Range::finite,
                            "without layer norm: weights",
                            "0",
                            {{"layer_norm"}, "false"}});
  variant.inputs.push_back(
      {"initial_S", {"d", "d"}, Range::finite, "with layer norm: weights", "0", layer_norm});
  variant.inputs.push_back({"initial_bias", {"d"}, Range::finite, "with layer norm: bias", "0", layer_norm});
  return variant;
}

/// Spec 3.12: the memory is f(x) = gelu(x W1 + b1) W2 + b2, or x + LN(f(x)), trained as in TTT-Linear.
Variant ttt_mlp() {
  const auto plan = [](const Settings&) { return NetworkPlan{{"W1", "W2"}, {"b1", "b2"}}; };
  Variant variant = {
      .id = "ttt_mlp",
      .label = "TTT-MLP",
      .words = "The memory is a small network with one hidden layer that is trained while it reads.",
      .paper = "Sun et al., Learning to (Learn at Test Time): RNNs with Expressive Hidden States, 2024",
      .options = {{"layer_norm",
                   {"false", "true"},
                   "true: layer norm and residual around the network, dk = dv = d"}},
      .inputs = network_inputs(),
      .parameters = network_parameters(),
      .states = {{"W1"}, {"b1"}, {"W2"}, {"b2"}},
      .loss =
          {.words =
               "Make the network answer v when asked with k: the gradients of a batch are all taken at the "
               "weights before it.",
           .latex = "\\sum_j \\tfrac{\\eta_j}{2}\\|f(k_j) - v_j\\|^2",
           .step = "W_t = W_\\tau - \\sigma_t\\nabla\\mathcal L_{\\tau<j\\le t}(W_\\tau)",
           .problems = network_problems(plan)},
      .memory = {.answers = network_memory(plan)},
      .rule = network_rule(plan),
  };
  variant.inputs.push_back(
      demonstrated({"W1", {"dk", "h"}, Range::finite, "initial weights"}, {.value = 0.2, .random = true}));
  variant.inputs.push_back({"b1", {"h"}, Range::finite, "initial bias"});
  variant.inputs.push_back(
      demonstrated({"W2", {"h", "dv"}, Range::finite, "initial weights"}, {.value = 0.2, .random = true}));
  variant.inputs.push_back({"b2", {"dv"}, Range::finite, "initial bias"});
  return variant;
}

}  // namespace palimpsest
