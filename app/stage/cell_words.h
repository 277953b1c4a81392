#pragma once

#include "core/steps/trace.h"

namespace palimpsest {

/// A cell of a recorded tensor that somebody points at.
struct CellFocus {
  std::string tensor;
  Index row = 0;
  Index column = 0;

  bool operator==(const CellFocus&) const = default;
};

/// What the rows or columns of a tensor stand for.
struct Axis {
  std::optional<Index> first_token;  // set where every index is a token
  const char* word = "channel";
};

struct Axes {
  Axis rows;
  Axis columns;
};

/// Told from role and size: rows of a chunk are its tokens, those of a state are channels of the key.
Axes axes_of(const Trace& trace, const Block& block, const Matrix<double>& values, const std::string& tensor,
             bool turned = false);

/// Where a cell lies, in words: "token 13 “box”, channel 5". `turned`: states stand value x key.
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
