#pragma once

#include <utility>
#include <vector>

#include "core/base/array.h"

namespace palimpsest {

/// `array` with `function` of each element, as doubles.
template <class Function>
Array mapped(const Array& array, Function function) {
  std::vector<double> values(static_cast<std::size_t>(array.size()));
  for (Index i = 0; i < array.size(); ++i) values[static_cast<std::size_t>(i)] = function(array[i]);
  return {array.shape, std::move(values)};
}

}  // namespace palimpsest
