#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant value_decay() {
  return {
      .id = "value_decay",
      .label = "Value-side decay",
      .words = "Every value channel fades at its own pace, whatever key it was written under.",
      .paper = "The mirror image of Yang et al., Gated Linear Attention Transformers, 2023",
      .recurrence = "S Diag(mu) + k v'",
      .inputs = {mu_input(), initial_state_input()},
      .loss = {.words =
                   "Let the memory answer v when asked with k, and be small where the value channel fades.",
               .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + "
                        "\\tfrac12\\|S\\,\\mathrm{Diag}(\\sqrt{1-\\mu_t})\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule = row_rule({.value_decay = true}),
  };
}

}  // namespace palimpsest
