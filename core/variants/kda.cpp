#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant kda() {
  return {
      .id = "kda",
      .label = "KDA",
      .words = "As Gated DeltaNet, but every key channel fades at its own pace.",
      .paper = "Kimi Team, Kimi Linear, 2025",
      .recurrence = "(I - beta k k') Diag(alpha) S + beta k v'",
      .inputs = {decay_input({"n", "dk"}), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\bar S_t", "\\mathrm{Diag}(\\alpha_t)S_{t-1}"),
      .rule = row_rule({.decay = Decay::key, .erase = Erase::decayed, .beta = true}),
  };
}

}  // namespace palimpsest
