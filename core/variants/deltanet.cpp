#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

Variant deltanet() {
  return {
      .id = "deltanet",
      .label = "DeltaNet",
      .words =
          "Before it writes, each token reads what the memory already says for its key, and corrects only "
          "that.",
      .paper = "Schlag et al., Linear Transformers Are Secretly Fast Weight Programmers, 2021",
      .recurrence = "(I - beta k k') S + beta k v'",
      .inputs = {beta_input(), initial_state_input()},
      .loss = {.words =
                   "Make the memory answer v when asked with k: one gradient step with learning rate beta.",
               .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
               .step = "S_t = S_{t-1} - \\beta_t\\nabla\\mathcal L(S_{t-1})",
               .problems = squared_problems},
      .rule = row_rule({.erase = Erase::decayed, .beta = true}),
  };
}

}  // namespace palimpsest
