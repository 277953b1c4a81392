#include "core/rules/network_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

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
