#pragma once

#include <random>

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

/// Sizes at which loops over rows begin, end or do nothing.
inline constexpr Index awkward_sizes[] = {0, 1, 2, 7};

/// Numbers in [-1, 1] with some exact zeros.
inline Matrix<double> random_matrix(std::mt19937& random, Index rows, Index columns) {
  Matrix<double> result(rows, columns);
  for (Index i = 0; i < result.size(); ++i) {
    const double number = std::uniform_real_distribution<double>(-1, 1)(random);
    result.data()[i] = std::uniform_int_distribution<int>(0, 5)(random) == 0 ? 0 : number;
  }
  return result;
}

inline Matrix<double> one_by_one(double value) { return Matrix<double>::Constant(1, 1, value); }

/// The value of the function `name` of the table.
inline Matrix<double> of(const std::string& name, const std::vector<Matrix<double>>& arguments) {
  Record record;
  std::vector<Expression> tensors;
  for (const Matrix<double>& argument : arguments) {
    tensors.push_back(tensor("x" + std::to_string(tensors.size())));
    record.set(tensors.back().name(), argument);
  }
  return evaluate(call(name, tensors), record);
}

}  // namespace palimpsest::testing
