#pragma once

#include <map>
#include <optional>
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

  Expression argument(char kind, Shape size, int depth);

  /// Shapes of the arguments with which `function` gives a value of this shape, sizes that are left open at
  /// random; none where no arguments give it.
  std::optional<std::vector<Shape>> arguments(const Function& function, Shape result);

  std::mt19937 random_;
};

}  // namespace palimpsest::testing
