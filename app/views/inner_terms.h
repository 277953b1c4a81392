#pragma once

#include <vector>

#include "app/stage/cell_words.h"
#include "app/views/cell_sum.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// The products that add up to a cell which is an inner product, with what the sum is multiplied by: one for
/// every channel, or for every word where the sum runs over words. Empty where the cell is none.
std::vector<CellPart> inner_terms(const Trace& trace, const Block& block, const Record& record,
                                  const CellFocus& cell);

}  // namespace palimpsest
