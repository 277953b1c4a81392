#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/variant.h"

namespace palimpsest {

/// How well the memory answers a token's own value for its own key, before and after its write.
struct Recall {
  double before = 0;   // |S^T k - v|^2 / 2; of a row program on the state on which its error is taken,
                       // and of the last step where a token takes several
  double after = 0;    // the same after the write
  double largest = 0;  // the largest |S_ij| after the write, of the first state where there are several
  double root_mean_square = 0;  // of all S_ij after the write
};

/// The recall of every token of one head in f64; nothing for rules without a memory to ask (softmax). Throws
/// Cancelled when asked to stop.
std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop = {});

}  // namespace palimpsest
