#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

Operation gated(const char* id, const char* title, const char* sentence, const char* result, const char* gate,
                const char* x) {
  return {id, Purpose::prepare, title, sentence, result, hadamard(tensor(gate), tensor(x))};
}

Notation gated_deltanet2_notation() {
  const char* asked = "What is asked before writing";
  const char* asked_words = "Which channels of the key may take something out?";
  const char* written = "What may be written";
  const char* written_words = "Which channels of the value may go in?";
  return {.token = {"q", "k", "w", "o", "a"},
          .rows = {"Q", "K", "W", "O", "A"},
          .token_before = {gated("erase_key", asked, asked_words, "a", "erase_gate", "k"),
                           gated("gated_value", written, written_words, "w", "write_gate", "v")},
          .rows_before = {gated("erase_key", asked, asked_words, "A", "erase_gate", "K"),
                          gated("gated_value", written, written_words, "W", "write_gate", "V")},
          .symbols = {{"erase_gate", {"\\epsilon", Role::gate, "erase gate"}},
                      {"write_gate", {"\\omega", Role::gate, "write gate"}},
                      {"a", {"a_t", Role::key, "what is asked before writing"}},
                      {"w", {"w_t", Role::value, "what may be written"}},
                      {"A", {"A", Role::key, "what is asked before writing"}},
                      {"W", {"W^{v}", Role::value, "what may be written"}}}};
}

}  // namespace

Variant gated_deltanet2() {
  return {
      .id = "gated_deltanet2",
      .label = "Gated DeltaNet-2",
      .words = "What is taken out and what is written have gates of their own, one per channel.",
      .paper = "Gated DeltaNet-2, 2025",
      .recurrence = "(I - k (erase_gate o k)') Diag(alpha) S + k (write_gate o v)'",
      .inputs = {decay_input({"n", "dk"}),
                 demonstrated({"erase_gate", {"n", "dk"}, Range::up_to_two, "erase strength per key channel"},
                              {.value = 1, .learning_rate = true}),
                 demonstrated({"write_gate", {"n", "dv"}, Range::unit, "write strength per value channel"},
                              {.value = 1, .learning_rate = true}),
                 initial_state_input()},
      .loss =
          {.words =
               "None, unless the erase gate is the same for all channels: the step has a curl, and no loss "
               "has such a gradient.",
           .latex = "",
           .step = "S_t = \\bar S_t - k_t\\left((\\epsilon_t\\odot k_t)^{\\top}\\bar S_t - "
                   "(\\omega_t\\odot v_t)^{\\top}\\right)",
           .problems = erase_key_problems},
      .rule = row_rule(
          {.decay = Decay::key, .erase = Erase::decayed, .erase_key = true},
          []<class Scalar>(const Rows<Scalar>& rows) {
            return Program<Scalar>{.q = rows.scaled_q(),
                                   .k = rows("k"),
                                   .v = rows("v").cwiseProduct(rows("write_gate")),
                                   .a = rows("k").cwiseProduct(rows("erase_gate")),
                                   .gate = rows("alpha")};
          },
          gated_deltanet2_notation()),
  };
}

}  // namespace palimpsest
