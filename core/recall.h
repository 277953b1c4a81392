#pragma once

#include <optional>
#include <vector>

#include "core/rule.h"

namespace palimpsest {

/// How well the memory answers a token's own value for its own key, just before and just after its write; the
/// last of them where a token takes several steps.
struct Recall {
  double before = 0;            // |S~^T k - v|^2 / 2 on the decayed state
  double after = 0;             // |S^T k - v|^2 / 2 after the write
  double largest = 0;           // the largest |S_ij| after the write
  double root_mean_square = 0;  // of all S_ij after the write
};

/// The recall of every token of one head in f64; nothing for rules that keep no state matrix (softmax).
std::optional<std::vector<Recall>> recall(const Rule& rule, const Sequence& sequence,
                                          std::stop_token stop = {});

}  // namespace palimpsest
