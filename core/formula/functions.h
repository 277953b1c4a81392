#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formula/expression.h"
#include "core/formula/term.h"

namespace palimpsest {

/// How a call is written: LaTeX with "#1", "#2" for the arguments, how tightly it binds, and how tightly the
/// arguments must bind to stand in it without brackets.
struct Pattern {
  std::string latex;
  Precedence binds = Precedence::atom;
  Precedence arguments_bind = Precedence::sum;
};

/// "\\mathrm{name}\\left(#1, #2\\right)".
Pattern applied(std::string_view name, int arguments = 1);

/// LaTeX that gives the arguments subscripts of its own, and is an atom itself.
Pattern subscripted(std::string latex);

using Arguments = std::span<const Matrix<double>>;

std::vector<Shape> shapes_of(Arguments arguments);

/// One row of the table. `signature` gives the shapes: "[L, K], [L, 1] -> [L, K]". Equal letters are equal
/// sizes, "V+1" is one more than V, and "K*V" is their product, once one of them is known from another size.
/// What it gives may be a sum, "K+L".
Function function(std::string name, const std::string& signature, Pattern pattern,
                  std::function<Matrix<double>(Arguments)> evaluate, std::function<Term(CallCell&)> explain);

/// What CallCell is to a cell that is written out, to one of which only the number is wanted. Rows are made
/// one after the other: own() knows those above.
class NumberCell {
 public:
  NumberCell(Arguments arguments, const Matrix<double>& result, Index row, Index column)
      : arguments_(arguments), result_(result), row_(row), column_(column) {}

  Index row() const { return row_; }
  Index column() const { return column_; }
  Shape shape(std::size_t i) const { return {arguments_[i].rows(), arguments_[i].cols()}; }
  double number(double value) const { return value; }
  double value(std::size_t i, Index row, Index column) const { return arguments_[i](row, column); }
  double at(std::size_t i, Index row, Index column) const { return value(i, row, column); }
  double here(std::size_t i) const { return value(i, row_, column_); }
  double own(Index row, Index column) const { return result_(row, column); }
  void reads_own(Index, Index, Index, Index) const {}

 private:
  Arguments arguments_;
  const Matrix<double>& result_;
  Index row_;
  Index column_;
};

/// A row of the table from what one cell is: `cell` is called with a NumberCell for its number, with a
/// CallCell for its arithmetic.
template <class Cell>
Function by_cell(std::string name, const std::string& signature, Pattern pattern, Cell cell) {
  Function row = function(std::move(name), signature, std::move(pattern), {}, cell);
  row.evaluate = [shape_of = row.shape, cell](Arguments arguments) {
    const Shape shape = shape_of(shapes_of(arguments));
    Matrix<double> result(shape.rows, shape.columns);
    for (Index i = 0; i < shape.rows; ++i) {
      for (Index j = 0; j < shape.columns; ++j) result(i, j) = cell(NumberCell(arguments, result, i, j));
    }
    return result;
  };
  return row;
}

/// `row`, which also needs that `fits`; else it says why not.
Function only_where(Function row, std::function<bool(std::span<const Shape>)> fits, std::string why_not);

/// The first rows of an argument of a call as numbers, all of them noted as read.
Matrix<double> first_rows(CallCell& cell, std::size_t argument, Index count);

/// The whole argument.
Matrix<double> whole(CallCell& cell, std::size_t argument);

/// The cell of what `evaluate` gives for the first `count` arguments, all of them read, under a formula of
/// its own.
Term worked_out_cell(CallCell& cell, Matrix<double> (*evaluate)(Arguments), std::size_t count,
                     std::string formula);

/// Whether the key of this column of a tile comes no later than the query of this row. The second and third
/// argument of the call are the numbers with which the tile begins.
template <class Cell>
bool is_past(const Cell& cell) {
  const double query = cell.value(1, 0, 0) + static_cast<double>(cell.row());
  return cell.value(2, 0, 0) + static_cast<double>(cell.column()) <= query;
}

std::vector<Function> elementwise_functions();
std::vector<Function> decay_functions();
std::vector<Function> vector_functions();
std::vector<Function> matrix_functions();
std::vector<Function> inner_batch_functions();
std::vector<Function> wrong_functions();

/// All of these: every function that no variant has for itself.
std::vector<Function> common_functions();

}  // namespace palimpsest
