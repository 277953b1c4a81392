#include "core/rules/row_problems.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Spec 3.8: S_t = (I - beta_t k_t k_t^T) S_{t-1} Diag(mu_t) + beta_t k_t v_t^T.
Variant value_decay_delta() {
  return {
      .id = "value_decay_delta",
      .label = "Value-side decay + delta",
      .words = "The value channels fade, then the token corrects what is left for its key.",
      .paper = "The mirror image of Kimi Linear, 2025",
      .inputs = {mu_input(), beta_input(), initial_state_input()},
      .loss = {.words =
                   "Make the faded memory answer v when asked with k: one gradient step with learning rate "
                   "beta.",
               .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
               .step = "S_t = S_{t-1}\\mathrm{Diag}(\\mu_t) - "
                       "\\beta_t\\nabla\\mathcal L(S_{t-1}\\mathrm{Diag}(\\mu_t))",
               .problems = squared_problems},
      .rule = row_rule(
          {.value_decay = true, .erase = Erase::decayed, .beta = true},
          []<class Scalar>(const Rows<Scalar>& rows) {
            return Program<Scalar>{
                .q = rows.scaled_q(), .k = rows("k"), .v = rows("v"), .mu = rows("mu"), .beta = rows("beta")};
          }),
  };
}

}  // namespace palimpsest
