#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

Notation hgrn2_notation() {
  const auto key = [](const char* k) {
    return Operation{"key",
                     Purpose::prepare,
                     "The key is what fades",
                     "A channel is written as much as it forgets.",
                     {k, call("one_minus", {tensor("alpha")})}};
  };
  return {.token = {"q", "k", "v", "o"},
          .rows = {"Q", "K", "V", "O"},
          .token_before = {key("k")},
          .rows_before = {key("K")}};
}

}  // namespace

Variant hgrn2() {
  return {
      .id = "hgrn2",
      .label = "HGRN2",
      .words =
          "Gated linear attention whose key is what the gate forgets: a channel takes in as much as it lets "
          "go.",
      .paper = "Qin et al., HGRN2: Gated Linear RNNs with State Expansion, 2024",
      .recurrence = "Diag(alpha) S + (1 - alpha) v'",
      .makes = {"k"},
      .inputs = {decay_input({"n", "dk"}), initial_state_input()},
      .loss = {.words = "Write v under the key 1 - alpha, and keep the memory small where it fades: every "
                        "channel is a "
                        "moving average of the values.",
               .latex = "-\\langle S^{\\top}(1-\\alpha_t), v_t\\rangle + "
                        "\\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
      .rule = row_rule(
          {.decay = Decay::key},
          []<class Scalar>(const Rows<Scalar>& rows) {
            const Matrix<Scalar> gate = rows("alpha");
            Matrix<Scalar> forgotten = (1 - gate.array()).matrix();
            if (rows.sequence.gates_are_logs) forgotten = (-gate.array().expm1()).matrix();
            return Program<Scalar>{.q = rows.scaled_q(), .k = forgotten, .v = rows("v"), .gate = gate};
          },
          hgrn2_notation()),
  };
}

}  // namespace palimpsest
