#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/rules/stored_pairs.h"

namespace palimpsest {

// What a memory still knows of the pairs that were stored in it. Everywhere the error of a pair is
// recall_differences: what the memory answers for the key, less the value.

/// How well the memory answers a token's own value for its own key, before and after its write.
struct Recall {
  double before = 0;   // |S^T k - v|^2 / 2; of a row program on the state on which its error is taken,
                       // and of the last step where a token takes several
  double after = 0;    // the same after the write
  double largest = 0;  // the largest |S_ij| after the write, of the first state where there are several
  double root_mean_square = 0;  // of all S_ij after the write
};

/// The recall of every token of one head in f64; nothing for rules without a memory to ask (softmax). Of
/// tokens that are written together, before and after all of them are.
/// `progress` hears how much is done, from 0 to 1. Throws Cancelled when asked to stop.
std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop = {},
                                          const std::function<void(double)>& progress = {});

/// What the write of one token, or of all that are written together with it, did to the pairs stored before.
struct WriteEffect {
  Index first_token = 0;  // of those written together
  Index pairs_per_token = 1;
  Vector<double> before = {};  // [pairs of tokens before first_token]: |answer - v| just before the write
  Vector<double> after = {};   // and after it
  Vector<double> own = {};     // the same of the written pairs, after it

  /// after - before: above 0 damaged, below 0 repaired.
  Vector<double> damage() const { return after - before; }
};

/// The effect of `token` on every pair before it, fading included. Throws InputError for a token that does
/// not exist, Unsupported where there is no memory to ask, Cancelled.
WriteEffect write_effect(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

}  // namespace palimpsest
