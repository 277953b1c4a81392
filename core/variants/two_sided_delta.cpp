#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant two_sided_delta() {
  return {
      .id = "two_sided_delta",
      .label = "Two-sided decay + delta",
      .words = "Keys and values fade, each channel at its own pace, then the token corrects what is left.",
      .paper = "Kimi Linear, 2025, with a decay of the values beside that of the keys",
      .recurrence = "(I - beta k k') Diag(alpha) S Diag(mu) + beta k v'",
      .inputs = {decay_input({"n", "dk"}), mu_input(), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\bar S_t", "\\mathrm{Diag}(\\alpha_t)S_{t-1}\\mathrm{Diag}(\\mu_t)"),
      .rule = row_rule({.decay = Decay::key, .value_decay = true, .erase = Erase::decayed, .beta = true}),
  };
}

}  // namespace palimpsest
