#pragma once

#include <vector>

#include "core/operator/program.h"
#include "core/operator/work.h"

namespace palimpsest {

/// The sizes of a row program's matrices.
struct RowSizes {
  Index reads = 0;  // tokens
  double columns_k = 0;
  double columns_v = 0;
};

/// What a row program takes in one form, from its structure alone (spec sections 2 and 4). `read_after` is
/// the program's. Exact for the three engines, whose work does not depend on the numbers.
Work row_cost(const Structure& structure, const RowSizes& sizes, Form form, Index chunk_size,
              const std::vector<Index>& read_after = {});

}  // namespace palimpsest
