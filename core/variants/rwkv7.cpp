#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

Notation rwkv7_notation() {
  const Operation removal = {"removal_key",
                             Purpose::prepare,
                             "What is asked for, to be taken away",
                             "The key that takes away is a with the opposite sign.",
                             "removal",
                             call("negative", {tensor("a")})};
  return {.token = {"q", "b", "", "o", "removal", "k", "v"},
          .rows = {"Q", "b", "", "O", "removal", "K", "V"},
          .token_before = {removal},
          .rows_before = {removal},
          .symbols = {{"a", {"a", Role::key, "reads the memory before it fades"}},
                      {"b", {"b", Role::key, "where the answer is taken away"}},
                      {"removal", {"\\kappa", Role::key, "the key that takes away"}}}};
}

}  // namespace

Variant rwkv7() {
  return {
      .id = "rwkv7",
      .label = "RWKV-7 (DPLR)",
      .words =
          "One key asks, another takes the answer away, a third writes: erasing and writing are apart. "
          "In the paper's names q is r, alpha is w, a is -kappa and b is kappa times its in-context rate.",
      .paper = "Peng et al., RWKV-7 \"Goose\" with Expressive Dynamic State Evolution, 2025",
      .recurrence = "Diag(alpha) S + b (a' S) + k v'",
      .inputs = {optional(decay_input({"n", "dk"}), "1"),
                 demonstrated({"a", {"n", "dk"}, Range::finite, "reads the undecayed state"},
                              {.value = -1, .like = "k"}),
                 demonstrated({"b", {"n", "dk"}, Range::finite, "writes what a has read"},
                              {.value = 0.5, .like = "k", .learning_rate = true}),
                 initial_state_input()},
      .loss =
          {.words =
               "With a = −κ and b = κ times ι, channel by channel: write v under k, keep the memory small "
               "where it fades, and forget what it answers for κ, a step preconditioned by Diag(ι).",
           .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + "
                    "\\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})S\\|_F^2 + "
                    "\\tfrac12\\|S^{\\top}\\kappa_t\\|^2",
           .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
           .problems = preconditioned_problems},
      .rule = row_rule({.decay = Decay::key,
                        .erase = Erase::undecayed,
                        .erase_key = true,
                        .writes_value = false,
                        .plain_write = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         const bool decays = rows.sequence.has("alpha");
                         const Matrix<Scalar> v = rows("v");
                         return Program<Scalar>{
                             .q = rows.scaled_q(),
                             .k = rows("b"),
                             .v = Matrix<Scalar>::Zero(v.rows(), v.cols()),
                             .a = -rows("a"),
                             .gate = decays ? rows("alpha") : Matrix<Scalar>(rows.count, 0),
                             .k_plain = rows("k"),
                             .v_plain = v};
                       },
                       rwkv7_notation(), {.decay = "alpha"}),
  };
}

}  // namespace palimpsest
