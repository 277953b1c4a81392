#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/stage/cell_focus.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The operation of `phase` that makes `tensor`; null if the data give it.
const Operation* maker_of(const Phase& phase, const std::string& tensor);

/// The first token of a tensor's rows, and of its columns, where they are tokens.
struct TokenAxes {
  std::optional<Index> rows;
  std::optional<Index> columns;
};

TokenAxes token_axes(const Trace& trace, const Block& block, const Matrix<double>& values,
                     const std::string& tensor);

/// Where a cell lies, in words: "token 12 ‘box’, channel 5". `turned`: states stand value x key.
std::string cell_place(const Trace& trace, const Block& block, const Matrix<double>& values,
                       const CellFocus& cell, const std::vector<std::string>& labels, bool turned);

/// "[12, 5]", without the index that a vector does not need.
std::string cell_indices(const Matrix<double>& values, const CellFocus& cell);

}  // namespace palimpsest
