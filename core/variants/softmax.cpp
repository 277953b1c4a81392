#include "core/rules/softmax_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// log f_t of every token: [T, 1].
Matrix<double> log_gates(const Sequence& sequence) {
  const Matrix<double> gates = sequence.at("alpha").all<double>();
  return sequence.gates_are_logs ? gates : Matrix<double>(gates.array().log());
}

}  // namespace

/// Spec 3.1: o_t = sum_j exp(q_t . k_j) v_j / sum_j exp(q_t . k_j) over j <= t.
Variant softmax() {
  return {
      .id = "softmax",
      .label = "Softmax attention",
      .words = "Nothing is compressed: every earlier token is kept and weighed anew for every query.",
      .paper = "Vaswani et al., Attention Is All You Need, 2017",
      .inputs = {{"initial_k_cache", {"p", "dk"}, Range::finite, "keys before the sequence", "empty"},
                 {"initial_v_cache", {"p", "dv"}, Range::finite, "values before the sequence", "empty"}},
      .states = {{"k_cache"}, {"v_cache"}},
      .loss =
          {.words =
               "No gradient step: the cache grows by one row per token. The output is the Nadaraya-Watson "
               "average of the values under the kernel exp(q·k).",
           .latex = "",
           .step = ""},
      .memory = {.answers = cache_answers(),
                 .none =
                     "Softmax attention keeps every key and value as they are: there is no state that they "
                     "would have to share, and nothing to forget."},
      .rule = softmax_rule(),
  };
}

/// o_i = sum_j w_ij v_j / sum_j w_ij over j <= i, w_ij = exp(q_i . k_j) f_{j+1} ... f_i.
Variant fox() {
  return {
      .id = "fox",
      .label = "Forgetting Transformer",
      .words =
          "Softmax attention in which every token fades what came before it: a key counts less the more "
          "gates lie between it and the query.",
      .paper = "Lin et al., Forgetting Transformer: Softmax Attention with a Forget Gate, 2025",
      .inputs = {forgetting(
                     {"alpha", {"n"}, Range::decay, "forget gate f: how much every earlier key counts"}, 1),
                 {"initial_k_cache", {"p", "dk"}, Range::finite, "keys before the sequence", "empty"},
                 {"initial_v_cache", {"p", "dv"}, Range::finite, "values before the sequence", "empty"},
                 {"initial_g_cache", {"p"}, Range::log_decay, "log f of the tokens before", "empty"}},
      .states = {{"k_cache"}, {"v_cache"}, {"g_cache"}},
      .loss = {.words =
                   "No gradient step: the cache grows by one row per token. The output is the "
                   "Nadaraya-Watson average of the values under the kernel exp(q·k), each weighed by the "
                   "forget gates since.",
               .latex = "",
               .step = ""},
      .memory = {.answers = cache_answers(),
                 .none =
                     "The Forgetting Transformer keeps every key and value as they are: there is no state "
                     "that they would have to share. What fades is how much they count."},
      .rule = softmax_rule({.log_gates = log_gates,
                            .state = "g_cache",
                            .symbol = {"\\log f", Role::gate, "log forget gates"}}),
  };
}

}  // namespace palimpsest
