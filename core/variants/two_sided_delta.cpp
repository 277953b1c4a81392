#include "core/rules/row_problems.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Spec 3.8: the delta rule on Diag(alpha_t) S_{t-1} Diag(mu_t).
Variant two_sided_delta() {
  return {
      .id = "two_sided_delta",
      .label = "Two-sided decay + delta",
      .words = "Keys and values fade, each channel at its own pace, then the token corrects what is left.",
      .paper = "Kimi Linear, 2025, with a decay of the values beside that of the keys",
      .inputs = {decay_input({"n", "dk"}), mu_input(), beta_input(), initial_state_input()},
      .loss = {.words =
                   "Make the faded memory answer v when asked with k: one gradient step with learning rate "
                   "beta.",
               .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
               .step = "S_t = \\bar S_t - \\beta_t\\nabla\\mathcal L(\\bar S_t),\\quad "
                       "\\bar S_t = \\mathrm{Diag}(\\alpha_t)S_{t-1}\\mathrm{Diag}(\\mu_t)",
               .problems = squared_problems},
      .rule = row_rule({.decay = Decay::key, .value_decay = true, .erase = Erase::decayed, .beta = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows("k"),
                                                .v = rows("v"),
                                                .gate = rows("alpha"),
                                                .mu = rows("mu"),
                                                .beta = rows("beta")};
                       }),
  };
}

}  // namespace palimpsest
