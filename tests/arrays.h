#pragma once

#include <utility>
#include <vector>

#include "core/base/array.h"

namespace palimpsest::testing {

/// An array that holds one number everywhere.
inline Array constant(std::vector<Index> shape, double value) {
  Array array;
  array.shape = std::move(shape);
  array.own_values() = std::vector<double>(static_cast<std::size_t>(array.size()), value);
  return array;
}

}  // namespace palimpsest::testing
