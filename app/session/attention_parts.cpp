#include "app/session/attention_parts.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace palimpsest {

namespace {

constexpr Index rows_of_a_part = 256;
constexpr Index coarse_rows = 128;

}  // namespace

AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present) {
  const BandPlace whole{.first_row = block.first_row,
                        .rows = std::min(block.count, tokens - block.first_row),
                        .first_column = block.first_column,
                        .columns = std::min(block.count, tokens - block.first_column),
                        .tokens_per_cell = std::max<Index>(block.count / std::max<Index>(pixels, 1), 1)};
  AttentionParts parts;
  if (block.count > 2 * rows_of_a_part) {
    parts.coarse = whole;
    parts.coarse->row_step = block.count / coarse_rows;
    parts.coarse->rows = whole.rows / parts.coarse->row_step;
  }
  for (Index row = 0; row < whole.rows; row += rows_of_a_part) {
    BandPlace part = whole;
    part.first_row += row;
    part.rows = std::min(rows_of_a_part, whole.rows - row);
    parts.fine.push_back(part);
  }
  std::ranges::sort(parts.fine, std::greater(), [&](const BandPlace& part) {
    return std::abs(part.first_row + rows_of_a_part / 2 - present);
  });
  return parts;
}

}  // namespace palimpsest
