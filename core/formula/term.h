#pragma once

#include <functional>
#include <string>
#include <string_view>

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

/// A row or column of a cell: a number, or the letter that a sum runs over (then `index` is the one summand
/// meant).
struct Subscript {
  Subscript(Index new_index, char new_letter = 0) : index(new_index), letter(new_letter) {}

  std::string text() const { return letter ? std::string(1, letter) : std::to_string(index); }

  Index index;
  char letter;
};

/// A number that stands in the formula itself: "1".
Term number(double value);

/// A symbol with its value.
Term symbol(std::string formula, double value);

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator-(const Term& a);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);

/// "exp(a)".
Term exp(const Term& a);

/// "√(a)".
Term sqrt(const Term& a);

/// "tanh(a)".
Term tanh(const Term& a);

/// "max(a, b)".
Term maximum(const Term& a, const Term& b);

/// The larger of two numbers; NaN if either is.
double maximum(double a, double b);

/// The same formula, with its numbers already worked out to one.
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

/// The same cell where only numbers are wanted.
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

}  // namespace palimpsest
