#pragma once

#include <optional>

#include "app/stage/cell_focus.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The cell of largest magnitude of what the operation at the cursor makes, of decays that which keeps least;
/// of rows of tokens that of the cursor's row. Nothing where no number is finite and other than 0.
std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record);

}  // namespace palimpsest
