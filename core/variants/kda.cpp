#include "core/rules/row_problems.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Spec 3.7: S~ = Diag(alpha_t) S_{t-1}, S_t = S~ + beta_t k_t (v_t - S~^T k_t)^T.
Variant kda() {
  return {
      .id = "kda",
      .label = "KDA",
      .words = "As Gated DeltaNet, but every key channel fades at its own pace.",
      .paper = "Kimi Team, Kimi Linear, 2025",
      .inputs = {decay_input({"n", "dk"}), beta_input(), initial_state_input()},
      .loss =
          {.words =
               "Make the faded memory answer v when asked with k: one gradient step with learning rate beta.",
           .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
           .step = "S_t = \\bar S_t - \\beta_t\\nabla\\mathcal L(\\bar S_t),\\quad "
                   "\\bar S_t = \\mathrm{Diag}(\\alpha_t)S_{t-1}",
           .problems = squared_problems},
      .rule = row_rule({.decay = Decay::key, .erase = Erase::decayed, .beta = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows("k"),
                                                .v = rows("v"),
                                                .gate = rows("alpha"),
                                                .beta = rows("beta")};
                       }),
  };
}

}  // namespace palimpsest
