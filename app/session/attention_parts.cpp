#include "app/session/attention_parts.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace palimpsest {

namespace {

constexpr Index rows_of_a_part = 256;
constexpr Index coarse_rows = 128;
// Of a million tokens every row would take hours: a pixel shows the strongest weight of this many rows at
// most.
constexpr Index most_rows_of_a_pixel = 16;

}  // namespace

AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present) {
  const Index per_pixel = std::max<Index>(block.count / std::max<Index>(pixels, 1), 1);
  const auto with_rows = [&](Index step) {
    return BandPlace{.first_row = block.first_row,
                     .rows = (std::min(block.count, tokens - block.first_row) + step - 1) / step,
                     .row_step = step,
                     .first_column = block.first_column,
                     .columns = std::min(block.count, tokens - block.first_column),
                     .tokens_per_cell = per_pixel};
  };
  AttentionParts parts;
  if (block.count > 2 * rows_of_a_part) parts.coarse = with_rows(block.count / coarse_rows);
  const Index row_step = (per_pixel + most_rows_of_a_pixel - 1) / most_rows_of_a_pixel;
  parts.rows_per_cell = per_pixel / row_step;
  const BandPlace whole = with_rows(row_step);
  for (Index row = 0; row < whole.rows; row += rows_of_a_part) {
    BandPlace part = whole;
    part.first_row = whole.token(row);
    part.rows = std::min(rows_of_a_part, whole.rows - row);
    parts.fine.push_back(part);
  }
  std::ranges::sort(parts.fine, std::greater(), [&](const BandPlace& part) {
    return std::abs(part.token(rows_of_a_part / 2) - present);
  });
  return parts;
}

}  // namespace palimpsest
