#pragma once

#include <functional>
#include <optional>
#include <span>
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

/// The recall of every token of one head in f64; nothing for rules without a memory to ask (softmax).
/// `progress` hears how much is done, from 0 to 1. Throws Cancelled when asked to stop.
std::optional<std::vector<Recall>> recall(const Variant& variant, const Sequence& sequence,
                                          std::stop_token stop = {},
                                          const std::function<void(double)>& progress = {});

/// How far the memory's answers are from what was stored, for a window of pairs and some moments.
struct RecallWindow {
  Index first_token = 0;  // the pairs of tokens first_token ..
  Index token_count = 0;
  Index pairs_per_token = 1;
  std::vector<Index> moments = {};  // numbers of tokens, ascending: S after so many
  Matrix<double> errors = {};       // [pairs, moments]: |answer of S - v|; 0 where the pair is not stored yet
  Vector<double> lengths = {};      // [pairs]: |v|, the error of a memory that answers nothing

  /// Whether the memory of this moment (an index) has seen this pair.
  bool stored(Index pair, std::size_t moment) const {
    return first_token + pair / pairs_per_token < moments[moment];
  }
};

/// The recall of the pairs of tokens first .. first+count-1 at every moment, in one walk that keeps no
/// states. Throws InputError for tokens or moments that do not exist, Unsupported where there is no memory to
/// ask, Cancelled.
RecallWindow recall_window(const Variant& variant, const Sequence& sequence, Index first, Index count,
                           std::span<const Index> moments, std::stop_token stop = {});

/// What one token did to the pairs stored before it.
struct WriteEffect {
  Vector<double> before;  // [pairs of earlier tokens]: |answer - v| just before the token
  Vector<double> after;   // and after it
  Vector<double> own;     // the same of the token's own pairs, after it

  /// after - before: above 0 damaged, below 0 repaired.
  Vector<double> damage() const { return after - before; }
};

/// The effect of `token` on every pair before it, fading included. Throws as recall_window does.
WriteEffect write_effect(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop = {});

}  // namespace palimpsest
