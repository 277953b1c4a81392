#pragma once

#include <utility>
#include <vector>

#include "core/base/array.h"

namespace palimpsest {

/// An array of the same shape: what `function` makes of every element, in row-major order.
template <class Scalar, class Function>
Array mapped(const Array& array, Function function) {
  std::vector<Scalar> values(static_cast<std::size_t>(array.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Scalar>(function(array[static_cast<Index>(i)]));
  return {array.shape, std::move(values)};
}

/// The numbers of a matrix, row by row, in this shape.
inline Array array_of(const Matrix<double>& matrix, std::vector<Index> shape) {
  return {std::move(shape), std::vector<double>(matrix.data(), matrix.data() + matrix.size())};
}

}  // namespace palimpsest
