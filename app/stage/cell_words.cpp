#include "app/stage/cell_words.h"

#include <fmt/ranges.h>

#include "app/stage/box.h"
#include "app/stage/ranges.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

std::string index_words(const Axis& axis, Index index, const std::vector<std::string>& labels) {
  if (!axis.first_token) return fmt::format("{} {}", axis.word, index);
  const auto token = static_cast<std::size_t>(*axis.first_token + index);
  if (token >= labels.size()) return fmt::format("token {}", token + 1);
  return "token " + numbered_label(labels[token], static_cast<Index>(token));
}

}  // namespace

Axes axes_of(const Trace& trace, const Block& block, const Matrix<double>& values, const std::string& tensor,
             bool turned) {
  const auto [latex, role, words, turns] = symbol_in(trace.symbols, tensor);
  const Axes state = {{{}, "key channel"}, {{}, "value channel"}};
  if (role == Role::state && turns) return turned ? Axes{state.columns, state.rows} : state;
  const bool weights = role == Role::plain || role == Role::gate;
  Axes axes;
  if (trace.form != Form::recurrent && values.rows() == block.count)
    axes.rows.first_token = block.first_token;
  if (block.key_count > 0) {  // softmax: keys and values kept so far
    const bool kept = role == Role::key || role == Role::value;
    if (kept && values.rows() == block.key_count && values.cols() > 1)
      axes.rows.first_token = block.first_key;
    if (weights && values.cols() == block.key_count) axes.columns.first_token = block.first_key;
  } else if (weights && values.cols() == block.count && trace.form != Form::recurrent && values.rows() > 1) {
    axes.columns.first_token = block.first_token;
  }
  return axes;
}

std::string cell_place(const Trace& trace, const Block& block, const Matrix<double>& values,
                       const CellFocus& cell, const std::vector<std::string>& labels, bool turned) {
  const auto [rows, columns] = axes_of(trace, block, values, cell.tensor, turned);
  std::vector<std::string> words;
  if (values.rows() > 1) words.push_back(index_words(rows, cell.row, labels));
  if (values.cols() > 1) words.push_back(index_words(columns, cell.column, labels));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string cell_indices(const Matrix<double>& values, const CellFocus& cell) {
  std::vector<Index> indices;
  if (values.rows() > 1) indices.push_back(cell.row);
  if (values.cols() > 1) indices.push_back(cell.column);
  return indices.empty() ? "" : fmt::format("[{}]", fmt::join(indices, ", "));
}

bool is_looked_at_by_row(const Matrix<double>& values, const Block& block, Form form) {
  return form != Form::recurrent && values.rows() == block.count;
}

std::optional<CellFocus> largest_cell(const Phase& phase, const Block& block, Form form, const Cursor& cursor,
                                      const Record& record) {
  if (cursor.operation >= static_cast<Index>(phase.operations.size())) return std::nullopt;
  const std::string& made = entry(phase.operations, cursor.operation).equation.result;
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
  // 1 is blank; 0 may be outside of a triangle.
  const auto faded = [](double factor) { return factor > 0 ? 1 - factor : 0; };
  if (holds_decays(made, values)) {
    if (const auto cell = find(faded)) return cell;
  }
  return find([](double value) { return std::abs(value); });
}

}  // namespace palimpsest
