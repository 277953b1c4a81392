#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

// Rules that correct what the faded memory says for the key.

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
