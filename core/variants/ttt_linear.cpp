#include "core/network_rule.h"
#include "core/variants.h"
#include "core/variants/ttt.h"

namespace palimpsest {

namespace {

bool has_layer_norm(const Settings& settings) {
  return settings.options.find("layer_norm")->second == "true";
}

NetworkPlan plan(const Settings& settings) {
  return has_layer_norm(settings) ? NetworkPlan{{"S"}, {"bias"}} : NetworkPlan{{"S"}, {}};
}

std::optional<std::string> missing_parallel(const Settings& settings) {
  if (has_layer_norm(settings)) return no_form_over_batches();
  return "Without layer norm the rule is a row program and has a parallel form, which is not wired up yet.";
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
      .inputs = ttt_inputs(),
      .parameters = ttt_parameters(),
      .states = {{"S"}, {"bias", layer_norm}},
      .loss = {.words =
                   "Make the model answer v when asked with k: the gradients of a batch are all taken at the "
                   "weights before it.",
               .latex = "\\sum_j \\tfrac{\\eta_j}{2}\\|f(k_j) - v_j\\|^2",
               .step = "S_t = S_\\tau - \\sigma_t\\nabla\\mathcal L_{\\tau<j\\le t}(S_\\tau)"},
      .rule = network_rule(plan, missing_parallel),
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

}  // namespace palimpsest
