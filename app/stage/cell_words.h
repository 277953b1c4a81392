#pragma once

#include "core/steps/trace.h"

namespace palimpsest {

/// A cell of a recorded tensor that the user points at.
struct CellFocus {
  std::string tensor;
  Index row = 0;
  Index column = 0;

  bool operator==(const CellFocus&) const = default;
};

/// The meaning of the rows or columns of a tensor.
struct Axis {
  std::optional<Index> first_token;  // set where every index is a token
  const char* word = "channel";
};

struct Axes {
  Axis rows;
  Axis columns;
};

/// Determined from role and size: rows of a chunk are its tokens, those of a state are channels of the key.
Axes axes_of(const Trace& trace, const Block& block, const Matrix<double>& values, const std::string& tensor,
             bool turned = false);

/// The place of a cell as text: "token 13 “box”, channel 5". `turned`: states are shown value x key.
std::string cell_place(const Trace& trace, const Block& block, const Matrix<double>& values,
                       const CellFocus& cell, const std::vector<std::string>& labels, bool turned);

/// "[12, 5]", without the index that a vector does not need.
std::string cell_indices(const Matrix<double>& values, const CellFocus& cell);

/// Whether the rows of `values` are the tokens of a block: then only the cursor's row is current.
bool is_looked_at_by_row(const Matrix<double>& values, const Block& block, Form form);

/// The cell of largest magnitude in the result of the operation at the cursor, or of strongest decay; if rows
/// are tokens, in the cursor's row. Nothing if there is no finite number other than 0.
std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record);

}  // namespace palimpsest
