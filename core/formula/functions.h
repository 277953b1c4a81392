#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// A piece of arithmetic in plain Unicode, and what decides whether it needs brackets.
struct Written {
  enum class Binds { sum, quotient, product, atom };

  std::string text;
  Binds binds = Binds::atom;
  bool open = false;  // ends in a "Σ …", which would swallow whatever is added on its right
};

/// Arithmetic written three ways at once: with symbols, with numbers, and what it gives.
struct Term {
  Written formula;
  Written numbers;
  double value = 0;
};

/// A row or column of a cell: a number, or the letter that a sum runs over (then `index` is one summand).
struct Subscript {
  Subscript(Index new_index, char new_letter = 0) : index(new_index), letter(new_letter) {}
  std::string text() const { return letter ? std::string(1, letter) : std::to_string(index); }

  Index index;
  char letter;
};

/// A number that stands in the formula itself: "1".
Term number(double value);

Term symbol(std::string formula, double value);

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator-(const Term& a);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);

// So that a function of cells is written once for terms and numbers.
using std::exp;
using std::log;
using std::sqrt;
using std::tanh;

/// Written "exp(a)", "√(a)", "log(a)", "tanh(a)" and "max(a, b)".
Term exp(const Term& a);
Term sqrt(const Term& a);
Term log(const Term& a);
Term tanh(const Term& a);
Term maximum(const Term& a, const Term& b);

/// The larger of two numbers; NaN if either is.
double maximum(double a, double b);

/// The same formula, with its numbers replaced by their result.
Term worked_out(Term a);
inline double worked_out(double a) { return a; }

/// What a sum or a maximum runs over: `count` terms, and the letter of their index.
struct IndexedTerms {
  Index count = 0;
  char letter = 'i';
  std::function<double(Index)> value;  // of one term, without writing it
  std::function<Term(Subscript)> term;
};

/// "Σᵢ term(i)"; `sign` replaces the "Σᵢ". With numbers, the largest few terms first when there are many.
Term sum(const IndexedTerms& terms, std::string_view sign = {});

/// "maxᵢ term(i)"; −∞ over nothing.
Term maximum(const IndexedTerms& terms);

/// "term(first)·…·term(first + count - 1)", all of them written when there are few; 1 for none.
Term product(Index first, Index count, const std::function<Term(Index)>& term);

class Explainer;

/// What a function sees when it explains one cell of its value.
class CallCell {
 public:
  CallCell(Explainer& explainer, const Expression& call, Index row, Index column)
      : explainer_(explainer), call_(call), row_(row), column_(column) {}

  Index row() const { return row_; }
  Index column() const { return column_; }
  Shape shape(std::size_t argument) const;
  /// One cell of an argument as a number; notes nothing as read.
  double value(std::size_t argument, Index row, Index column) const;
  /// One cell of an argument, written out; noted as read if no letter stands for its row or column.
  Term at(std::size_t argument, Subscript row, Subscript column) const;
  /// The cell of an argument at the same place.
  Term here(std::size_t argument) const { return at(argument, row_, column_); }
  /// A number that stands in the formula itself.
  Term number(double value) const { return palimpsest::number(value); }
  /// Notes a block of an argument as read.
  void reads(std::size_t argument, Index first_row, Index first_column, Index rows, Index columns) const;

  /// A block of an argument as numbers, noted as read.
  Matrix<double> read(std::size_t argument, Index first_row, Index first_column, Index rows,
                      Index columns) const;

  /// The whole argument as a symbol: "K".
  std::string name(std::size_t argument) const;
  /// Another cell of the call's own value, as one symbol.
  Term own(Subscript row, Subscript column) const;
  /// Notes a block of the call's own value as read, if it is recorded.
  void reads_own(Index first_row, Index first_column, Index rows, Index columns) const;

 private:
  Explainer& explainer_;
  const Expression& call_;
  Index row_;
  Index column_;
};

/// The same cell, for numbers only.
struct ValueCell {
  const CallCell& of;

  Index row() const { return of.row(); }
  Index column() const { return of.column(); }
  double at(std::size_t argument, Subscript row, Subscript column) const {
    return of.value(argument, row.index, column.index);
  }
  double own(Subscript row, Subscript column) const { return of.own(row, column).value; }
};

/// `count` terms of a call's cell: `term(of, i)` gives one, `of` being the cell or a ValueCell.
template <class One>
IndexedTerms over(const CallCell& cell, Index count, char letter, One term) {
  return {.count = count,
          .letter = letter,
          .value = [&cell, term](Index i) { return term(ValueCell{cell}, Subscript(i)); },
          .term = [&cell, term](const Subscript& i) { return term(cell, i); }};
}

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

/// The counterpart of CallCell where only the number of a cell is needed. Rows are computed in order: own()
/// gives those above.
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

/// A row of the table defined by one cell: `cell` is called with a NumberCell for the number, with a CallCell
/// for the arithmetic.
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

/// `row` restricted to shapes that `fits` accepts; for others the error says `why_not`.
Function only_where(Function row, std::function<bool(std::span<const Shape>)> fits, std::string why_not);

/// The first rows of an argument of a call as numbers, all of them noted as read.
Matrix<double> first_rows(CallCell& cell, std::size_t argument, Index count);

Matrix<double> whole(CallCell& cell, std::size_t argument);

/// A row of the table whose cells are explained by their number alone, which reads all of the `count`
/// arguments; `words` stand for it.
Function by_number(std::string name, const std::string& signature, Pattern pattern,
                   Matrix<double> (*evaluate)(Arguments), std::size_t count,
                   std::function<std::string(const CallCell&)> words);

/// Whether the key of this column of a tile comes no later than the query of this row. The second and third
/// argument of the call are the tile's first query and first key.
template <class Cell>
bool is_past(const Cell& cell) {
  const double query = cell.value(1, 0, 0) + static_cast<double>(cell.row());
  return cell.value(2, 0, 0) + static_cast<double>(cell.column()) <= query;
}

std::vector<Function> elementwise_functions();
std::vector<Function> activation_functions();
std::vector<Function> decay_functions();
std::vector<Function> vector_functions();
std::vector<Function> matrix_functions();
std::vector<Function> inner_batch_functions();
std::vector<Function> wrong_functions();

/// Every function that does not belong to a single variant.
std::vector<Function> common_functions();

}  // namespace palimpsest
