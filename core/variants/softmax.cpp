#include "core/rules/softmax_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

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

}  // namespace palimpsest
