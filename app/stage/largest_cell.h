#pragma once

#include <optional>

#include "app/stage/cell_focus.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// Whether the rows of `values` are the tokens of a block: then one row at a time is looked at, the cursor's.
bool is_looked_at_by_row(const Matrix<double>& values, const Block& block, Form form);

/// The cell of largest magnitude of what the operation at the cursor makes, of decays that which keeps least;
/// of rows of tokens that of the cursor's row. Nothing where no number is finite and other than 0.
std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record);

}  // namespace palimpsest
