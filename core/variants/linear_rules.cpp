#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

// Rules that erase nothing: what is written is added to a state that may decay.

namespace palimpsest {

namespace {

/// The prediction for k should point along v, and the state be small where it decays: `pull` in LaTeX.
InnerLoss dot_loss_with(const char* pull, std::string words) {
  return {.words = std::move(words),
          .latex = std::string("-\\langle S^{\\top}k_t, v_t\\rangle") + pull,
          .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
          .problems = dot_problems};
}

}  // namespace

Variant linear() {
  return {
      .id = "linear",
      .label = "Linear attention",
      .words = "Each token adds the outer product of its key and value. Nothing is erased.",
      .paper = "Katharopoulos et al., Transformers are RNNs, 2020",
      .recurrence = "S + k v'",
      .text =
          "S = S + k v^T\n"
          "o = S^T q\n",
      .options = {{"causal", {"true", "false"}, "false: every token reads the state after the last one"}},
      .inputs = {initial_state_input()},
      .loss = dot_loss_with("", "Make the value returned for k point along v. This loss is unbounded below."),
  };
}

Variant retnet() {
  return {
      .id = "retnet",
      .label = "RetNet",
      .words = "The memory decays by the same factor at every token.",
      .paper = "Sun et al., Retentive Network, 2023",
      .recurrence = "gamma S + k v'",
      .text =
          "setting gamma = 0.9 in [0, 1]: decay per token\n"
          "S = gamma * S + k v^T\n"
          "o = S^T q\n",
      .inputs = {initial_state_input()},
      .parameters = {{.name = "gamma",
                      .minimum = 0,
                      .maximum = 1,
                      .meaning = "decay per token",
                      .per_head = true,
                      .keeps = 1}},
      .loss = dot_loss_with(" + \\tfrac{1-\\gamma}{2}\\|S\\|_F^2",
                            "Linear attention with weight decay on the whole memory."),
  };
}

Variant lightning() {
  return {
      .id = "lightning",
      .label = "Lightning attention",
      .words = "RetNet with other decays: from head to head their logarithm shrinks by a fixed factor.",
      .paper = "Qin et al., Lightning Attention-2, 2024; MiniMax-01, 2025",
      .recurrence = "exp(-slope) S + k v'",
      .text =
          "setting slope = 0.05 in [0, 1000000]: the decay per token is exp(-slope)\n"
          "S = exp(-slope) * S + k v^T\n"
          "o = S^T q\n",
      .inputs = {initial_state_input()},
      .parameters =
          {{.name = "slope",
            .minimum = 0,
            .maximum = 1e6,
            .meaning = "the decay per token is exp(-slope); MiniMax: 2^(-8 h / H) for head h = 1..H, less in "
                       "later layers",
            .per_head = true,
            .stand_in = 0.05,
            .keeps = 0}},
      .loss = dot_loss_with(" + \\tfrac{1-e^{-s}}2\\|S\\|_F^2",
                            "Make the memory return v for k, and keep it small."),
      .rule = row_rule({.decay = Decay::scalar, .gates_are_logs = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows("k"),
                                                .v = rows("v"),
                                                .gate = rows.repeated(-rows.sequence.parameter("slope"))};
                       }),
  };
}

Variant scalar_decay() {
  return {
      .id = "scalar_decay",
      .label = "Mamba-2 (scalar decay)",
      .words = "Each token sets one decay for the whole memory before it writes.",
      .paper = "Dao and Gu, Transformers are SSMs (Mamba-2), 2024",
      .recurrence = "alpha S + k v'",
      .text =
          "inputs alpha: gate per token\n"
          "S = alpha * S + k v^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n"}), initial_state_input()},
      .loss = dot_loss_with(" + \\tfrac{1-\\alpha_t}{2}\\|S\\|_F^2",
                            "Linear attention with weight decay on the whole memory, set by each token."),
  };
}

Variant gla() {
  return {
      .id = "gla",
      .label = "GLA",
      .words = "Each token sets a decay for every key channel.",
      .paper = "Yang et al., Gated Linear Attention Transformers, 2023",
      .recurrence = "Diag(alpha) S + k v'",
      .text =
          "inputs alpha: gate per key channel\n"
          "S = Diag(alpha) S + k v^T\n"
          "o = S^T q\n",
      .inputs = {decay_input({"n", "dk"}), initial_state_input()},
      .loss = dot_loss_with(" + \\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})\\,S\\|_F^2",
                            "Linear attention with a separate weight decay for every key channel."),
  };
}

Variant hgrn2() {
  return {
      .id = "hgrn2",
      .label = "HGRN2",
      .words = "Gated linear attention with key 1 − α: a channel writes as much as it forgets.",
      .paper = "Qin et al., HGRN2: Gated Linear RNNs with State Expansion, 2024",
      .recurrence = "Diag(alpha) S + (1 - alpha) v'",
      .text =
          "inputs alpha: gate per key channel\n"
          "k' = 1 - alpha  # Key from the decay: The key is 1 − α: a channel writes as much as it forgets.\n"
          "S = Diag(alpha) S + k' v^T\n"
          "o = S^T q\n",
      .makes = {"k"},
      .inputs = {decay_input({"n", "dk"}), initial_state_input()},
      .loss = {.words = "Write v under the key 1 - alpha, with weight decay: every channel is a moving "
                        "average of the values.",
               .latex = "-\\langle S^{\\top}(1-\\alpha_t), v_t\\rangle + "
                        "\\tfrac12\\|\\mathrm{Diag}(\\sqrt{1-\\alpha_t})S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = dot_problems},
  };
}

Variant value_decay() {
  return {
      .id = "value_decay",
      .label = "Value-side decay",
      .words = "Every value channel has its own decay, independent of the key.",
      .paper = "The mirror image of Yang et al., Gated Linear Attention Transformers, 2023",
      .recurrence = "S Diag(mu) + k v'",
      .text =
          "inputs mu: gate per value channel\n"
          "S = S Diag(mu) + k v^T\n"
          "o = S^T q\n",
      .inputs = {mu_input(), initial_state_input()},
      .loss = dot_loss_with(
          " + \\tfrac12\\|S\\,\\mathrm{Diag}(\\sqrt{1-\\mu_t})\\|_F^2",
          "Make the memory return v for k, with a separate weight decay for every value channel."),
  };
}

}  // namespace palimpsest
