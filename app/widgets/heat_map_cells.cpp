#include "app/widgets/heat_map_cells.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace palimpsest {
namespace {

// A stretch of rows or columns.
struct Stretch {
  Index first = 0;
  Index count = 0;
  Index finished = 0;  // of them
};

Stretch stretch(Index first, Index count, Index finished, Index available) {
  const auto clipped = [](Index wanted, Index limit) { return wanted < 0 ? limit : std::min(wanted, limit); };
  Stretch result;
  result.first = std::clamp<Index>(first, 0, available);
  result.count = clipped(count, available - result.first);
  result.finished = clipped(finished, result.count);
  return result;
}

// Those that pixel `pixel` of `pixels` shows: at least one, overlapping where they do not divide evenly.
Stretch footprint(const Stretch& all, Index pixel, Index pixels) {
  const Index begin = pixel * all.count / pixels;
  const Index end = ((pixel + 1) * all.count + pixels - 1) / pixels;
  return {.first = all.first + begin, .count = std::min(end, all.finished) - begin, .finished = 0};
}

float strongest(const Matrix<double>& values, const Stretch& rows, const Stretch& columns) {
  float result = 0;
  for (Index row = rows.first; row < rows.first + rows.count; ++row) {
    for (Index column = columns.first; column < columns.first + columns.count; ++column) {
      const auto value = static_cast<float>(values(row, column));
      if (std::isnan(value)) return value;
      if (std::fabs(value) > std::fabs(result)) result = value;
    }
  }
  return result;
}

}  // namespace

Matrix<float> drawn_cells(const Matrix<double>& values, const HeatMapLook& look, Index width, Index height) {
  // Rows and columns of the matrix; swapped at the end, so that memory is read in order.
  const bool swapped = look.transposed;
  if (swapped) std::swap(width, height);
  const Stretch rows = stretch(look.block.first_row, look.block.rows,
                               swapped ? look.finished_columns : look.finished_rows, values.rows());
  const Stretch columns = stretch(look.block.first_column, look.block.columns,
                                  swapped ? look.finished_rows : look.finished_columns, values.cols());
  Matrix<float> cells(std::min(rows.count, height), std::min(columns.count, width));
  if (cells.rows() == rows.count && cells.cols() == columns.count) {  // no two numbers share a pixel
    cells.setZero();
    cells.topLeftCorner(rows.finished, columns.finished) =
        values.block(rows.first, columns.first, rows.finished, columns.finished).cast<float>();
    if (swapped) return cells.transpose();
    return cells;
  }
  std::vector<Stretch> of_column;
  for (Index column = 0; column < cells.cols(); ++column)
    of_column.push_back(footprint(columns, column, cells.cols()));
  for (Index row = 0; row < cells.rows(); ++row) {
    const Stretch its_rows = footprint(rows, row, cells.rows());
    for (Index column = 0; column < cells.cols(); ++column)
      cells(row, column) = strongest(values, its_rows, of_column[static_cast<std::size_t>(column)]);
  }
  if (swapped) return cells.transpose();
  return cells;
}

}  // namespace palimpsest
