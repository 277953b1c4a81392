#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant linear() {
  return {
      .id = "linear",
      .label = "Linear attention",
      .words = "Every value is added to the memory along its key. Nothing is ever taken out.",
      .paper = "Katharopoulos et al., Transformers are RNNs, 2020",
      .recurrence = "S + k v'",
      .options = {{"causal", {"true", "false"}, "false: every token reads the state after the last one"}},
      .inputs = {initial_state_input()},
      .loss = {.words = "Make the answer to k point along v. The loss has no floor, so every step adds.",
               .latex = "-\\langle S^{\\top}k_t, v_t\\rangle",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule = row_rule([](const Settings& settings) {
        const bool causal = settings.option("causal") == "true";
        return Structure{.read_at = causal ? ReadAt::after_row : ReadAt::end};
      }),
  };
}

}  // namespace palimpsest
