#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant lightning() {
  return {
      .id = "lightning",
      .label = "Lightning attention",
      .words =
          "RetNet whose heads forget at different paces: head after head the slope of the logarithm halves.",
      .paper = "Qin et al., Lightning Attention-2, 2024; MiniMax-01, 2025",
      .recurrence = "exp(-slope) S + k v'",
      .inputs = {initial_state_input()},
      .parameters =
          {{.name = "slope",
            .minimum = 0,
            .maximum = 1e6,
            .meaning = "the decay per token is exp(-slope); MiniMax: 2^(-8 h / H) for head h = 1..H, less in "
                       "later layers",
            .per_head = true,
            .stand_in = 0.05,
            .keeps = 0}},
      .loss = {.words = "Let the memory answer v when asked with k, and be small.",
               .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + \\tfrac{1-e^{-s}}2\\|S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule = row_rule({.decay = Decay::scalar, .gates_are_logs = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows("k"),
                                                .v = rows("v"),
                                                .gate = rows.repeated(-rows.sequence.parameter("slope"))};
                       }),
  };
}

}  // namespace palimpsest
