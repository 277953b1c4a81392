#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/formula/expression.h"

namespace palimpsest::testing {

/// Grows random expressions that fit together, and records the tensors they read.
class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed) : random_(seed) {}

  Record record;
  bool with_functions = true;
  bool whole_numbers = false;        // leaves are small whole numbers
  std::map<std::string, int> grown;  // how often each kind and function was grown

  /// An expression of this shape, at most `depth` operations deep.
  Expression grow(Index rows, Index columns, int depth);

  Index upto(Index largest) { return std::uniform_int_distribution<Index>(0, largest)(random_); }

 private:
  Expression leaf(Index rows, Index columns);
  Expression operation(Index rows, Index columns, int depth);
  Expression function(Index rows, Index columns, int depth);

  /// How to grow the arguments of each function that can give a value of this shape.
  using Possible = std::map<std::string, std::function<std::vector<Expression>()>>;
  /// Those of functions that need numbers or sizes which their signature does not say.
  Possible by_hand(Index rows, Index columns, int depth);

  std::mt19937 random_;
};

}  // namespace palimpsest::testing
