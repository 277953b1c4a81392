#include "core/rules/row_problems.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Spec 3.6: S~ = alpha_t S_{t-1}, S_t = S~ + beta_t k_t (v_t - S~^T k_t)^T. The decay comes before the read.
Variant gated_deltanet() {
  return {
      .id = "gated_deltanet",
      .label = "Gated DeltaNet",
      .words = "The memory fades a little, then the token corrects what is left for its key.",
      .paper = "Yang et al., Gated Delta Networks, 2024",
      .inputs = {decay_input({"n"}), beta_input(), initial_state_input()},
      .loss =
          {.words =
               "Make the faded memory answer v when asked with k: one gradient step with learning rate beta.",
           .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
           .step = "S_t = \\alpha_t S_{t-1} - \\beta_t\\nabla\\mathcal L(\\alpha_t S_{t-1})",
           .problems = squared_problems},
      .rule = row_rule({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true},
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
