#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/formula/expression.h"

namespace palimpsest::testing {

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
