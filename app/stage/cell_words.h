#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// A cell of a recorded tensor that somebody points at.
struct CellFocus {
  std::string tensor;
  Index row = 0;
  Index column = 0;

  bool operator==(const CellFocus&) const = default;
};

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

/// Whether the rows of `values` are the tokens of a block: then one row at a time is looked at, the cursor's.
bool is_looked_at_by_row(const Matrix<double>& values, const Block& block, Form form);

/// The cell of largest magnitude of what the operation at the cursor makes, of decays that which keeps least;
/// of rows of tokens that of the cursor's row. Nothing where no number is finite and other than 0.
std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record);

}  // namespace palimpsest
