#include <fmt/format.h>

#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

// Rules that correct the prediction of the decayed state for the key.

namespace palimpsest {

namespace {

/// The loss of a delta rule on a state that decays first: `faded` is that state in LaTeX; `made` defines it
/// if it has a name of its own.
InnerLoss faded_delta_loss(const std::string& faded, const std::string& made = {}) {
  InnerLoss loss = {
      .words = "Make the decayed memory return v for k: one gradient step with learning rate beta.",
      .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
      .step = fmt::format("S_t = {0} - \\beta_t\\nabla\\mathcal L({0})", faded),
      .problems = squared_problems};
  if (!made.empty()) loss.step += fmt::format(",\\quad {} = {}", faded, made);
  return loss;
}

Notation comba_notation() {
  return {.token = {"q", "k", "v", "o", "p"},
          .rows = {"Q", "K", "V", "O", "p"},
          .symbols = {{"p", {"p_t", Role::key, "erase key"}}}};
}

Operation gated(const char* id, const char* title, const char* sentence, const char* result, const char* gate,
                const char* x) {
  return {id, Purpose::prepare, title, sentence, result, hadamard(tensor(gate), tensor(x))};
}

Notation gated_deltanet2_notation() {
  const char* asked = "Erase key";
  const char* asked_words = "The key times the erase gate: the channels that may erase.";
  const char* written = "Gated value";
  const char* written_words = "The value times the write gate: the channels that are written.";
  return {.token = {"q", "k", "w", "o", "a"},
          .rows = {"Q", "K", "W", "O", "A"},
          .token_before = {gated("erase_key", asked, asked_words, "a", "erase_gate", "k"),
                           gated("gated_value", written, written_words, "w", "write_gate", "v")},
          .rows_before = {gated("erase_key", asked, asked_words, "A", "erase_gate", "K"),
                          gated("gated_value", written, written_words, "W", "write_gate", "V")},
          .symbols = {{"erase_gate", {"\\epsilon", Role::gate, "erase gate"}},
                      {"write_gate", {"\\omega", Role::gate, "write gate"}},
                      {"a", {"a_t", Role::key, "erase key"}},
                      {"w", {"w_t", Role::value, "gated value"}},
                      {"A", {"A", Role::key, "erase key"}},
                      {"W", {"W^{v}", Role::value, "gated value"}}}};
}

/// One decay per token: it belongs to the first of the token's steps, the others keep everything.
template <class Scalar>
Matrix<Scalar> decay_of_first_step(const Rows<Scalar>& rows, Index steps) {
  const bool logs = rows.sequence.gates_are_logs;
  Matrix<Scalar> gate = Matrix<Scalar>::Constant(rows.count * steps, 1, logs ? Scalar(0) : Scalar(1));
  if (!rows.sequence.has("alpha")) return gate;
  const Matrix<Scalar> alpha = rows("alpha");
  for (Index t = 0; t < rows.count; ++t) gate(t * steps, 0) = alpha(t, 0);
  return gate;
}

}  // namespace

Variant deltanet() {
  return {
      .id = "deltanet",
      .label = "DeltaNet",
      .words = "Each token first reads what the memory returns for its key, then writes only the error.",
      .paper = "Schlag et al., Linear Transformers Are Secretly Fast Weight Programmers, 2021",
      .recurrence = "(I - beta k k') S + beta k v'",
      .text =
          "inputs beta: strength per token\n"
          "S = S + beta * k (v - S^T k)^T\n"
          "o = S^T q\n",
      .inputs = {beta_input(), initial_state_input()},
      .loss = {.words = "Make the memory return v for k: one gradient step with learning rate beta.",
               .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
               .step = "S_t = S_{t-1} - \\beta_t\\nabla\\mathcal L(S_{t-1})",
               .problems = squared_problems},
  };
}

Variant gated_deltanet() {
  return {
      .id = "gated_deltanet",
      .label = "Gated DeltaNet",
      .words = "The memory decays by one factor, then the delta rule corrects the value of this key.",
      .paper = "Yang et al., Gated Delta Networks, 2024",
      .recurrence = "alpha (I - beta k k') S + beta k v'",
      .text =
          "inputs alpha: gate per token; beta: strength per token\n"
          "S' = alpha * S\n"
          "S = S' + beta * k (v - S'^T k)^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n"}), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\alpha_t S_{t-1}"),
  };
}

Variant kda() {
  return {
      .id = "kda",
      .label = "KDA",
      .words = "Gated DeltaNet with a separate decay for every key channel.",
      .paper = "Kimi Team, Kimi Linear, 2025",
      .recurrence = "(I - beta k k') Diag(alpha) S + beta k v'",
      .text =
          "inputs alpha: gate per key channel; beta: strength per token\n"
          "S' = Diag(alpha) S\n"
          "S = S' + beta * k (v - S'^T k)^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n", "dk"}), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\bar S_t", "\\mathrm{Diag}(\\alpha_t)S_{t-1}"),
  };
}

Variant value_decay_delta() {
  return {
      .id = "value_decay_delta",
      .label = "Value-side decay + delta",
      .words = "Every value channel has its own decay; then the delta rule corrects the value of this key.",
      .paper = "The mirror image of Kimi Linear, 2025",
      .recurrence = "(I - beta k k') S Diag(mu) + beta k v'",
      .text =
          "inputs mu: gate per value channel; beta: strength per token\n"
          "S' = S Diag(mu)\n"
          "S = S' + beta * k (v - S'^T k)^T\n"
          "o = S^T q\n",
      .inputs = {mu_input(), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("S_{t-1}\\mathrm{Diag}(\\mu_t)"),
  };
}

Variant two_sided_delta() {
  return {
      .id = "two_sided_delta",
      .label = "Two-sided decay + delta",
      .words =
          "Every key and value channel has its own decay; then the delta rule corrects the value of this "
          "key.",
      .paper = "Kimi Linear, 2025, with a decay of the values beside that of the keys",
      .recurrence = "(I - beta k k') Diag(alpha) S Diag(mu) + beta k v'",
      .text =
          "inputs alpha: gate per key channel; mu: gate per value channel; beta: strength per token\n"
          "S' = Diag(alpha) S Diag(mu)\n"
          "S = S' + beta * k (v - S'^T k)^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n", "dk"}), mu_input(), beta_input(), initial_state_input()},
      .loss = faded_delta_loss("\\bar S_t", "\\mathrm{Diag}(\\alpha_t)S_{t-1}\\mathrm{Diag}(\\mu_t)"),
  };
}

Variant comba() {
  return {
      .id = "comba",
      .label = "Comba",
      .words = "The delta rule with two keys: one reads the prediction, the other writes.",
      .paper = "Hu et al., Comba: Improving Bilinear RNNs with Closed-loop Control, 2025",
      .recurrence = "alpha S + beta k (v - R' p)', R = S if read=undecayed, R = alpha S if read=decayed",
      .text =
          "inputs alpha: gate per token; beta: strength per token; p: key per key channel\n"
          "S = alpha * S + beta * k (v - S^T p)^T\n"
          "o = S^T q\n",
      .options = {{"read", {"undecayed", "decayed"}, "memory that the prediction reads"}},
      .inputs = {demonstrated({"p", {"n", "dk"}, Range::finite, "erase key"}, {.value = 1, .like = "k"}),
                 decay_input({"n"}), beta_input(), initial_state_input()},
      .loss = {.words = "For p = d k: write v under k, and keep the retrieved value and the decaying memory "
                        "small. For other p the step is not a gradient, so there is no loss.",
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
            Program<Scalar> program = given_rows().in<Scalar>()(rows);
            program.a = rows("p");
            return program;
          },
          comba_notation()),
  };
}

Variant gated_deltanet2() {
  return {
      .id = "gated_deltanet2",
      .label = "Gated DeltaNet-2",
      .words = "Erasing and writing have separate gates for every channel.",
      .paper = "Gated DeltaNet-2, 2025",
      .recurrence = "(I - k (erase_gate o k)') Diag(alpha) S + k (write_gate o v)'",
      .text =
          "inputs alpha: gate per key channel; erase_gate: key per key channel; write_gate: key per value "
          "channel\n"
          "S' = Diag(alpha) S\n"
          "S = S' - k (S'^T (erase_gate * k))^T + k (write_gate * v)^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n", "dk"}),
                 demonstrated({"erase_gate", {"n", "dk"}, Range::up_to_two, "erase strength per key channel"},
                              {.value = 1, .learning_rate = true}),
                 demonstrated({"write_gate", {"n", "dv"}, Range::unit, "write strength per value channel"},
                              {.value = 1, .learning_rate = true}),
                 initial_state_input()},
      .loss = {.words = "A loss exists only where the erase gate is equal for all channels; otherwise the "
                        "step is not a gradient.",
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

/// Spec 3.13: several delta steps per token, one after the other, on alpha_t S_{t-1}.
Variant deltaproduct() {
  return {
      .id = "deltaproduct",
      .label = "(Gated) DeltaProduct",
      .words = "Several delta-rule steps per token, each with its own key and value.",
      .paper =
          "Siems et al., DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products, "
          "2025",
      .inputs = {{"k", {"n", "h", "dk"}, Range::finite, "keys, h steps per token"},
                 {"v", {"n", "h", "dv"}, Range::finite, "values, one per step"},
                 decay_input({"n"}, "1"),
                 {"beta", {"n", "h"}, Range::strength, "write strength of each step"},
                 initial_state_input()},
      .loss = {.words = "Make the memory return v for k: h gradient steps, one after the other.",
               .latex = "\\tfrac12\\|S^{\\top}k_{t,j} - v_{t,j}\\|^2",
               .step = "S \\leftarrow S - \\beta_{t,j}\\nabla\\mathcal L_j(S),\\quad j = 1 \\dots h",
               .problems = squared_problems},
      .rule = row_rule({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         const Index steps = rows.sequence.at("beta").columns();
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows.unfolded("k", rows.sequence.dk),
                                                .v = rows.unfolded("v", rows.sequence.dv),
                                                .gate = decay_of_first_step(rows, steps),
                                                .beta = rows.unfolded("beta", 1)};
                       },
                       {}, {.rows_per_read = "beta"}),
  };
}

Variant rwkv7() {
  return {
      .id = "rwkv7",
      .label = "RWKV-7 (DPLR)",
      .words =
          "One key reads the prediction, a second subtracts it, a third writes. In the paper, q is r, alpha "
          "is w, a is -kappa and b is kappa times its in-context rate.",
      .paper = "Peng et al., RWKV-7 \"Goose\" with Expressive Dynamic State Evolution, 2025",
      .recurrence = "Diag(alpha) S + b (a' S) + k v'",
      .text =
          "inputs alpha: gate per key channel; a: key per key channel; b: key per key channel\n"
          "kappa = -a  # Removal key: The key −a, whose value is subtracted.\n"
          "S = Diag(alpha) S - b (S^T kappa)^T + k v^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n", "dk"}, "1"),
                 demonstrated({"a", {"n", "dk"}, Range::finite, "reads the undecayed state"},
                              {.value = -1, .like = "k"}),
                 demonstrated({"b", {"n", "dk"}, Range::finite, "writes what a has read"},
                              {.value = 0.5, .like = "k", .learning_rate = true}),
                 initial_state_input()},
      .loss = {.words = "With a = −κ and b = κ ι: write v under k, keep the decaying memory small, and "
                        "reduce what it returns for κ. The step is preconditioned by Diag(ι).",
               .latex = "-\\langle S^{\\top}k_t, v_t\\rangle + "
                        "\\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})S\\|_F^2 + "
                        "\\tfrac12\\|S^{\\top}\\kappa_t\\|^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = preconditioned_problems},
  };
}

}  // namespace palimpsest
