#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// How strongly every token writes into a memory.
struct WriteStrengths {
  bool by_beta = false;  // beta |k|^2, which is 1 for a write that puts v in the place of the old answer;
                         // else |k| |v|, the length of what is added, for a rule without beta
  std::vector<double> of_token;  // of several writes of a token the strongest; of several beta their mean
};

/// Those of one head, from its own numbers alone: O(T (K + V)). Nothing where there is no memory to ask.
/// Throws Cancelled when asked to stop.
std::optional<WriteStrengths> token_write_strengths(const Variant& variant, const Sequence& sequence,
                                              std::stop_token stop = {});

}  // namespace palimpsest
