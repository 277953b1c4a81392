#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/rule.h"

namespace palimpsest {

class RowRule;

/// How many times further than one rounding a result moves, as a share of the largest element of each array
/// (Disagreement::error).
struct Amplification {
  struct Factor {
    std::string array;  // "o", "S", ...
    double factor = 1;  // at least 1; infinite where nothing of the array is left
  };
  std::vector<Factor> factors = {};
  std::vector<double> states_after = {};  // [T] the states' largest, if the sequence ended after that token

  /// The factor of `array`; 1 for one that was not measured.
  double of(std::string_view array) const;

  /// Raises the factor of `array` to `factor` if it is lower.
  void raise(std::string_view array, double factor);

  /// The first token after which the states' factor exceeds `most` to the end; -1: none.
  Index first_beyond(double most) const;
};

/// How many tokens of a sequence a form takes at once.
Index tokens_at_once(Form form, Index chunk_size, Index tokens);

/// How far a form of a row program spreads rounding, from the recurrence in f64 alone: the form itself has no
/// part in it. A form that takes L tokens at once (one, a chunk, all) adds up their writes and lets them take
/// each other away only in the sum. So what a token's erase finds, its output and the state after the L
/// tokens are rounded not by a part of themselves but of
///   M_t = |T_t| M_{t-1} + |b_t| |u_t|^T,   M = |S| where the L tokens begin,
/// the state that all these writes would make if none were taken away. Where it is the writes that empty the
/// memory, and not the decay, |S| shrinks and M stays. The recurrence is run with random errors of that size,
/// and with its rows and decays rounded; the largest change of several draws counts. Nothing is measured of a
/// program whose reads wait for later rows.
Amplification form_amplification(const RowRule& rule, const Sequence& sequence, Form form, Index chunk_size,
                                 std::stop_token stop = {});

}  // namespace palimpsest
