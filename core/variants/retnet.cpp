#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant retnet() {
  return {
      .id = "retnet",
      .label = "RetNet",
      .words = "The memory fades by the same factor at every token.",
      .paper = "Sun et al., Retentive Network, 2023",
      .recurrence = "gamma S + k v'",
      .inputs = {initial_state_input()},
      .parameters = {{.name = "gamma",
                      .minimum = 0,
                      .maximum = 1,
                      .meaning = "decay per token",
                      .per_head = true,
                      .keeps = 1}},
      .loss = {.words = "As linear attention, plus a pull of the whole memory towards zero.",
               .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + \\tfrac{1-\\gamma}{2}\\|S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule = row_rule(
          {.decay = Decay::scalar},
          []<class Scalar>(const Rows<Scalar>& rows) {
            return Program<Scalar>{
                .q = rows.scaled_q(), .k = rows("k"), .v = rows("v"), .gate = rows.repeated("gamma")};
          },
          {.symbols = {{"alpha", {"\\gamma", Role::gate, "how much is kept"}}}}),
  };
}

}  // namespace palimpsest
