#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant value_decay_delta() {
  return {
      .id = "value_decay_delta",
      .label = "Value-side decay + delta",
      .words = "The value channels fade, then the token corrects what is left for its key.",
      .paper = "The mirror image of Kimi Linear, 2025",
      .recurrence = "(I - beta k k') S Diag(mu) + beta k v'",
      .inputs = {mu_input(), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("S_{t-1}\\mathrm{Diag}(\\mu_t)"),
      .rule = row_rule({.value_decay = true, .erase = Erase::decayed, .beta = true}),
  };
}

}  // namespace palimpsest
