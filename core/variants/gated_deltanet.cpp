#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant gated_deltanet() {
  return {
      .id = "gated_deltanet",
      .label = "Gated DeltaNet",
      .words = "The memory fades a little, then the token corrects what is left for its key.",
      .paper = "Yang et al., Gated Delta Networks, 2024",
      .recurrence = "alpha (I - beta k k') S + beta k v'",
      .inputs = {decay_input({"n"}), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\alpha_t S_{t-1}"),
      .rule = row_rule({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true}),
  };
}

}  // namespace palimpsest
