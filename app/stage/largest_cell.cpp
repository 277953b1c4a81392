#include "app/stage/largest_cell.h"

#include <algorithm>
#include <cmath>

#include "app/stage/fading_cells.h"

namespace palimpsest {

bool is_looked_at_by_row(const Matrix<double>& values, const Block& block, Form form) {
  return form != Form::recurrent && values.rows() == block.count;
}

std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record) {
  if (cursor.operation >= static_cast<Index>(phase.operations.size())) return std::nullopt;
  const std::string& made = phase.operations[static_cast<std::size_t>(cursor.operation)].equation.result;
  if (!record.contains(made)) return std::nullopt;
  const Matrix<double>& values = record.at(made);
  const bool has_tokens = is_looked_at_by_row(values, block, form) && cursor.row < values.rows();
  const Index first = has_tokens ? cursor.row : 0;
  const Index end = has_tokens ? cursor.row + 1 : values.rows();
  const auto find = [&](auto size_of) {
    std::optional<CellFocus> largest;
    double most = 0;
    for (Index row = first; row < end; ++row) {
      for (Index column = 0; column < values.cols(); ++column) {
        const double size = size_of(values(row, column));
        if (!std::isfinite(size) || size <= most) continue;
        most = size;
        largest = CellFocus{made, row, column};
      }
    }
    return largest;
  };
  // One is paper; 0 may be what a triangle leaves out.
  const auto faded = [](double factor) { return factor > 0 ? 1 - factor : 0; };
  if (holds_decays(made, values)) {
    if (const auto cell = find(faded)) return cell;
  }
  return find([](double value) { return std::abs(value); });
}

}  // namespace palimpsest
