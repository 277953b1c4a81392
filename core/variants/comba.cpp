#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

Notation comba_notation() {
  return {.token = {"q", "k", "v", "o", "p"},
          .rows = {"Q", "K", "V", "O", "p"},
          .symbols = {{"p", {"p_t", Role::key, "what is asked before writing"}}}};
}

}  // namespace

Variant comba() {
  return {
      .id = "comba",
      .label = "Comba",
      .words = "The delta rule with a second key: one asks what is there, the other says where to write.",
      .paper = "Hu et al., Comba: Improving Bilinear RNNs with Closed-loop Control, 2025",
      .recurrence = "alpha S + beta k (v - R' p)', R = S if read=undecayed, R = alpha S if read=decayed",
      .options = {{"read", {"undecayed", "decayed"}, "state that the erase reads"}},
      .inputs = {demonstrated({"p", {"n", "dk"}, Range::finite, "erase key"}, {.value = 1, .like = "k"}),
                 decay_input({"n"}), beta_input(), initial_state_input()},
      .loss = {.words =
                   "For p = d k: write v under k, keep what the memory answers for k small, and the memory "
                   "small where it fades. For any other p there is no loss: the step is not a gradient.",
               .latex = "\\beta_t\\left(\\tfrac d2\\|S^{\\top}k_t\\|^2 - \\langle S^{\\top}k_t, "
                        "v_t\\rangle\\right) + \\tfrac{1-\\alpha_t}2\\|S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = erase_key_problems},
      .rule = row_rule(
          [](const Settings& settings) {
            const bool decayed = settings.option("read") == "decayed";
            return Structure{.decay = Decay::scalar,
                             .erase = decayed ? Erase::decayed : Erase::undecayed,
                             .erase_key = true,
                             .beta = true};
          },
          []<class Scalar>(const Rows<Scalar>& rows) {
            return Program<Scalar>{.q = rows.scaled_q(),
                                   .k = rows("k"),
                                   .v = rows("v"),
                                   .a = rows("p"),
                                   .gate = rows("alpha"),
                                   .beta = rows("beta")};
          },
          comba_notation()),
  };
}

}  // namespace palimpsest
