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
double larger(double a, double b);

/// The same formula, with its numbers already worked out to one.
Term worked_out(Term a);

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

/// What a function sees when it explains one cell of its value.
class CallCell {
 public:
  virtual ~CallCell() = default;

  Index row() const { return row_; }
  Index column() const { return column_; }

  virtual Shape shape(std::size_t argument) const = 0;

  /// One cell of an argument as a number; notes nothing as read.
  virtual double value(std::size_t argument, Index row, Index column) = 0;

  /// One cell of an argument, written out; noted as read if no letter stands for its row or column.
  virtual Term at(std::size_t argument, Subscript row, Subscript column) = 0;

  /// Notes a block of an argument as read.
  virtual void reads(std::size_t argument, Index first_row, Index first_column, Index rows,
                     Index columns) = 0;

  /// The whole argument as a symbol: "K".
  virtual std::string name(std::size_t argument) const = 0;

  /// Another cell of the call's own value, as one symbol.
  virtual Term own(Subscript row, Subscript column) = 0;

  /// Notes a block of the call's own value as read, if it is recorded.
  virtual void reads_own(Index first_row, Index first_column, Index rows, Index columns) = 0;

 protected:
  CallCell(Index row, Index column) : row_(row), column_(column) {}

 private:
  Index row_;
  Index column_;
};

}  // namespace palimpsest
