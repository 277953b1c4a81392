#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant scalar_decay() {
  return {
      .id = "scalar_decay",
      .label = "Mamba-2 (scalar decay)",
      .words = "Each token decides how much of the whole memory is kept before it writes.",
      .paper = "Dao and Gu, Transformers are SSMs (Mamba-2), 2024",
      .recurrence = "alpha S + k v'",
      .inputs = {decay_input({"n"}), initial_state_input()},
      .loss =
          {.words =
               "As linear attention, plus a pull of the whole memory towards zero that the token chooses.",
           .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + \\tfrac{1-\\alpha_t}{2}\\|S\\|_F^2",
           .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
           .problems = dot_problems},
      .rule = row_rule({.decay = Decay::scalar}),
  };
}

}  // namespace palimpsest
