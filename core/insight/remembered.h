#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// What is left of some stored words over time: how much of a word's own value is in the answer to its key,
/// beside the values of the others.
struct Remembered {
  std::vector<Index> tokens = {};   // whose last pair is asked for
  std::vector<Index> moments = {};  // numbers of tokens, ascending: the memory after so many
  /// [tokens, moments], before a token is there too; while a batch is gathered, of what was written before
  /// it. The diagonal of (S^T k_i / |k_i|^2 as rows) V^+, V the values of all these words, singular values
  /// below 5 % of the largest cut off: a write of strength 1 into an empty memory answers 1. Aligned:
  /// <answer, v> / (|answer| |v|), 0 where one of them is 0.
  Matrix<double> shares = {};
  bool is_alignment = false;  // see compared_by_direction()
};

/// What exactly is asked where only the direction of the answers is compared; empty where shares are told.
std::string compared_by_direction(const Variant& variant);

/// In one walk that keeps no states. Throws InputError for tokens or moments that do not exist, Unsupported
/// where there is no memory to ask, Cancelled. `progress` hears how much is done, from 0 to 1.
Remembered remembered(const Variant& variant, const Sequence& sequence, std::span<const Index> tokens,
                      std::span<const Index> moments, std::stop_token stop = {},
                      const std::function<void(double)>& progress = {});

}  // namespace palimpsest
