#include "core/lact_rule.h"
#include "core/variants.h"

namespace palimpsest {

/// Spec 3.11: per inner batch G = K^T Diag(eta) R, M = m M + G, S = normalise(S + NS5(M)).
Variant lact() {
  return {
      .id = "lact",
      .label = "LaCT",
      .words =
          "Large batches of tokens change the memory in one big step, in which every direction counts alike.",
      .paper = "Zhang et al., Test-Time Training Done Right, 2025; Jordan et al., Muon, 2024",
      .options =
          {{"optimizer",
            {"muon", "sgd"},
            "muon: the step is the gradient with its singular values brought near 1; sgd: the gradient"},
           {"loss", {"dot", "l2"}, "inner loss: -<S^T k, v> or 1/2 |S^T k - v|^2"},
           {"order", {"apply_first", "update_first"}, "read before or after the own update"},
           {"weight_norm", {"true", "false"}, "columns keep their norm"},
           {"newton_schulz", {"muon", "tuned"}, "coefficients; tuned: LaCT's language-model code"}},
      .inputs = {demonstrated({"eta", {"n"}, Range::non_negative, "learning rate"},
                              {.value = 0.5, .learning_rate = true}),
                 {"momentum", {"n_batches"}, Range::unit, "momentum factor of each batch", "0"},
                 demonstrated({"initial_S", {"dk", "dv"}, Range::finite, "weights"},
                              {.value = 0.2, .random = true}),
                 {"initial_M", {"dk", "dv"}, Range::finite, "momentum", "0"},
                 {"column_norm",
                  {"dv"},
                  Range::non_negative,
                  "norms that weight_norm restores",
                  "column norms of initial_S"}},
      .parameters = {{.name = "batch",
                      .minimum = 1,
                      .maximum = 1e15,
                      .meaning = "tokens per update: the rule's own chunk",
                      .whole = true,
                      .stand_in = 16}},
      .states = {{"S"}, {"M"}},
      .loss = {.words = "Answer v when asked with k, for a whole batch at once, all gradients at the weights "
                        "before it. Muon makes the step as long in every direction.",
               .latex = "-\\sum_j \\eta_j\\langle S^{\\top}k_j, v_j\\rangle",
               .step = "S' = \\mathrm{normalise}\\left(S + "
                       "\\mathrm{NS}_5\\left(\\mu M - \\nabla\\mathcal L(S)\\right)\\right)"},
      .rule = lact_rule(),
  };
}

}  // namespace palimpsest
