#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant gla() {
  return {
      .id = "gla",
      .label = "GLA",
      .words = "Each token decides for every key channel how much of the memory is kept.",
      .paper = "Yang et al., Gated Linear Attention Transformers, 2023",
      .recurrence = "Diag(alpha) S + k v'",
      .inputs = {decay_input({"n", "dk"}), initial_state_input()},
      .loss =
          {.words =
               "As linear attention, plus a pull towards zero that differs from key channel to key channel.",
           .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + "
                    "\\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})\\,S\\|_F^2",
           .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
           .problems = dot_problems},
      .rule = row_rule({.decay = Decay::key}),
  };
}

}  // namespace palimpsest
