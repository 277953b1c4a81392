#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/rules/rule.h"

namespace palimpsest {

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

}  // namespace palimpsest
