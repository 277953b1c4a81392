#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// What is left of some stored words over time: how much of a word's value v is in the answer to its key k.
struct Remembered {
  std::vector<Index> tokens = {};   // whose last pair is asked for
  std::vector<Index> moments = {};  // numbers of tokens, ascending: the memory after so many
  /// [tokens, moments], before a token is there too: <answer, v> / (|k|^2 |v|^2), so that a write of strength
  /// 1 into an empty memory answers 1. Aligned: <answer, v> / (|answer| |v|). 0 where k, v or the answer is
  /// 0.
  Matrix<double> shares = {};
  bool is_alignment = false;  // the memory answers as a network does, or its lengths mean nothing
};

/// In one walk that keeps no states. Throws InputError for tokens or moments that do not exist, Unsupported
/// where there is no memory to ask, Cancelled. `progress` hears how much is done, from 0 to 1.
Remembered remembered(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens,
                      std::span<const Index> moments, std::stop_token stop = {},
                      const std::function<void(double)>& progress = {});

}  // namespace palimpsest
