#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/formula/interpreter.h"
#include "core/formula/notation.h"
#include "core/formula/term.h"

namespace palimpsest {

namespace {

/// "[3,5]"; a column needs only its row, a row only its column, a number nothing.
std::string indices(Shape shape, const Subscript& row, const Subscript& column) {
  if (shape.columns == 1) return shape.rows == 1 ? std::string() : fmt::format("[{}]", row.text());
  if (shape.rows == 1) return fmt::format("[{}]", column.text());
  return fmt::format("[{},{}]", row.text(), column.text());
}

bool is_inside(const Cells& inner, const Cells& outer) {
  return inner.tensor == outer.tensor && inner.first_row >= outer.first_row &&
         inner.first_column >= outer.first_column &&
         inner.first_row + inner.rows <= outer.first_row + outer.rows &&
         inner.first_column + inner.columns <= outer.first_column + outer.columns;
}

/// Walks an expression for one cell: writes its arithmetic and notes which recorded cells it reads.
class Explainer {
 public:
  Explainer(const Equation& equation, const Symbols& symbols, const Record& record)
      : equation_(equation), symbols_(symbols), record_(record) {}

  Explanation explain(Index row, Index column);

  Shape shape(const Expression& expression) const {
    const Matrix<double>* recorded = recorded_value(expression);
    return recorded ? Shape{recorded->rows(), recorded->cols()} : palimpsest::shape(expression, record_);
  }

  double value(const Expression& expression, Index row, Index column);
  Term term(const Expression& expression, Subscript row, Subscript column);
  void read(const Expression& expression, Cells block);

  /// The whole value as a symbol, in brackets if it is compound.
  std::string name(const Expression& expression) const;

  /// One cell of a compound value, written as one symbol: "(Q Kᵀ)[3,i]".
  Term opaque(const Expression& expression, const Subscript& row, const Subscript& column) {
    return symbol(name(expression) + indices(shape(expression), row, column),
                  value(expression, row.index, column.index));
  }

  /// The recorded result, if `call` is the whole right-hand side and its result was recorded.
  const Matrix<double>* own_result(const Expression& call) const {
    if (&call != root_ || !record_.contains(equation_.result)) return nullptr;
    const Matrix<double>& recorded = record_.at(equation_.result);
    const Shape expected = shape(call);
    return recorded.rows() == expected.rows && recorded.cols() == expected.columns ? &recorded : nullptr;
  }

  Term own_term(const Matrix<double>& recorded, const Subscript& row, const Subscript& column) const {
    return symbol(symbol_text(equation_.result) + indices({recorded.rows(), recorded.cols()}, row, column),
                  recorded(row.index, column.index));
  }

  void note(Cells cells);
  const std::string& result() const { return equation_.result; }

 private:
  /// What is recorded of `expression`: a tensor, or a named subexpression whose value was recorded.
  const Matrix<double>* recorded_value(const Expression& expression) const {
    if (expression.kind() == Expression::Kind::tensor) return &record_.at(expression.name());
    const bool is_recorded = expression.kind() == Expression::Kind::named &&
                             record_.contains(expression.name()) && expression.name() != equation_.result;
    return is_recorded ? &record_.at(expression.name()) : nullptr;
  }

  std::string symbol_text(const std::string& name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? name : unicode(found->second.latex);
  }

  const Matrix<double>& call_value(const Expression& call) {
    const auto found = call_values_.find(&call);
    if (found != call_values_.end()) return found->second;
    return call_values_.emplace(&call, evaluate(call, record_)).first->second;
  }

  double product_value(const Expression& product, Index row, Index column);
  Term product_term(const Expression& product, const Subscript& row, const Subscript& column);
  void read_product(const Expression& product, const Cells& block);
  Term call_term(const Expression& call, const Subscript& row, const Subscript& column);

  const Equation& equation_;
  const Symbols& symbols_;
  const Record& record_;
  const Expression* root_ = nullptr;
  std::map<const Expression*, Matrix<double>> call_values_;  // of functions met inside a sum
  std::vector<Cells> sources_;
};

/// What a function's own explanation sees of the walk.
class Call final : public CallCell {
 public:
  Call(Explainer& explainer, const Expression& call, Index row, Index column)
      : CallCell(row, column), explainer_(explainer), call_(call) {}

  Shape shape(std::size_t argument) const override { return explainer_.shape(call_.arguments()[argument]); }

  double value(std::size_t argument, Index row, Index column) override {
    return explainer_.value(call_.arguments()[argument], row, column);
  }

  Term at(std::size_t argument, Subscript row, Subscript column) override {
    return explainer_.term(call_.arguments()[argument], row, column);
  }

  void reads(std::size_t argument, Index first_row, Index first_column, Index rows, Index columns) override {
    explainer_.read(call_.arguments()[argument], {{}, first_row, first_column, rows, columns});
  }

  std::string name(std::size_t argument) const override {
    return explainer_.name(call_.arguments()[argument]);
  }

  Term own(Subscript row, Subscript column) override {
    if (const auto* recorded = explainer_.own_result(call_))
      return explainer_.own_term(*recorded, row, column);
    return explainer_.opaque(call_, row, column);
  }

  void reads_own(Index first_row, Index first_column, Index rows, Index columns) override {
    if (explainer_.own_result(call_)) {
      explainer_.note({explainer_.result(), first_row, first_column, rows, columns});
    }
  }

 private:
  Explainer& explainer_;
  const Expression& call_;
};

Explanation Explainer::explain(Index row, Index column) {
  root_ = &equation_.expression;
  // The result's own name says nothing about where it came from.
  while (root_->kind() == Expression::Kind::named && root_->name() == equation_.result)
    root_ = root_->arguments().data();

  const Shape size = palimpsest::shape(*root_, record_);
  if (row < 0 || column < 0 || row >= size.rows || column >= size.columns) {
    throw Error(fmt::format("\"{}\" has no cell [{}, {}]: its shape is {}", equation_.result, row, column,
                            to_string(size)));
  }
  Term cell = term(*root_, row, column);
  return {std::move(cell.formula.text), std::move(cell.numbers.text), cell.value, std::move(sources_)};
}

std::string Explainer::name(const Expression& expression) const {
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      return symbol_text(expression.name());
    case Expression::Kind::named:
      return recorded_value(expression) ? symbol_text(expression.name()) : name(expression.arguments()[0]);
    case Expression::Kind::transpose:
    case Expression::Kind::diagonal:
      return unicode(latex(expression, symbols_));
    case Expression::Kind::function:
      if (find_function(expression.name()).binds == Precedence::atom)
        return unicode(latex(expression, symbols_));
      break;
    case Expression::Kind::product:
    case Expression::Kind::hadamard:
    case Expression::Kind::sum:
    case Expression::Kind::difference:
      break;
  }
  return fmt::format("({})", unicode(latex(expression, symbols_)));
}

void Explainer::note(Cells cells) {
  if (cells.rows <= 0 || cells.columns <= 0) return;
  for (const Cells& known : sources_) {
    if (is_inside(cells, known)) return;
  }
  std::erase_if(sources_, [&](const Cells& known) { return is_inside(known, cells); });
  sources_.push_back(std::move(cells));
}

double Explainer::value(const Expression& expression, Index row, Index column) {
  if (const auto* recorded = recorded_value(expression)) return (*recorded)(row, column);
  const auto argument = [&](std::size_t i) -> const Expression& { return expression.arguments()[i]; };
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::named:
      return value(argument(0), row, column);
    case Expression::Kind::transpose:
      return value(argument(0), column, row);
    case Expression::Kind::product:
      return product_value(expression, row, column);
    case Expression::Kind::hadamard: {
      const auto [x, y] = std::pair(shape(argument(0)), shape(argument(1)));
      return value(argument(0), repeated(row, x.rows), repeated(column, x.columns)) *
             value(argument(1), repeated(row, y.rows), repeated(column, y.columns));
    }
    case Expression::Kind::sum:
      return value(argument(0), row, column) + value(argument(1), row, column);
    case Expression::Kind::difference:
      return value(argument(0), row, column) - value(argument(1), row, column);
    case Expression::Kind::diagonal:
      return row == column ? value(argument(0), row, 0) : 0;
    case Expression::Kind::function:
      return call_value(expression)(row, column);
  }
  return 0;
}

double Explainer::product_value(const Expression& product, Index row, Index column) {
  const Expression& x = product.arguments()[0];
  const Expression& y = product.arguments()[1];
  switch (product_kind(product, shape(x), shape(y))) {
    case ProductKind::number_left:
      return value(x, 0, 0) * value(y, row, column);
    case ProductKind::number_right:
      return value(x, row, column) * value(y, 0, 0);
    case ProductKind::diagonal_left:
      return value(x, row, row) * value(y, row, column);
    case ProductKind::diagonal_right:
      return value(x, row, column) * value(y, column, column);
    case ProductKind::matrices:
      break;
  }
  double total = 0;
  for (Index i = 0, inner = shape(x).columns; i < inner; ++i) total += value(x, row, i) * value(y, i, column);
  return total;
}

Term Explainer::term(const Expression& expression, Subscript row, Subscript column) {
  if (const auto* recorded = recorded_value(expression)) {
    if (!row.letter && !column.letter) note({expression.name(), row.index, column.index, 1, 1});
    return symbol(symbol_text(expression.name()) + indices({recorded->rows(), recorded->cols()}, row, column),
                  (*recorded)(row.index, column.index));
  }
  const auto argument = [&](std::size_t i) -> const Expression& { return expression.arguments()[i]; };
  const auto repeated_term = [&](const Expression& factor) {
    const Shape size = shape(factor);
    return term(factor, size.rows == 1 ? Subscript(0) : row, size.columns == 1 ? Subscript(0) : column);
  };
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::named:
      return term(argument(0), row, column);
    case Expression::Kind::transpose:
      return term(argument(0), column, row);
    case Expression::Kind::product:
      return product_term(expression, row, column);
    case Expression::Kind::hadamard:
      return repeated_term(argument(0)) * repeated_term(argument(1));
    case Expression::Kind::sum:
      return term(argument(0), row, column) + term(argument(1), row, column);
    case Expression::Kind::difference:
      return term(argument(0), row, column) - term(argument(1), row, column);
    case Expression::Kind::diagonal:
      if (row.letter || column.letter) return opaque(expression, row, column);
      return row.index == column.index ? term(argument(0), row, 0) : number(0);
    case Expression::Kind::function:
      return call_term(expression, row, column);
  }
  return number(0);
}

Term Explainer::product_term(const Expression& product, const Subscript& row, const Subscript& column) {
  const Expression& x = product.arguments()[0];
  const Expression& y = product.arguments()[1];
  const auto diagonal_term = [&](const Expression& diagonal, const Subscript& place) {
    return term(diagonal.arguments()[0], place, 0);
  };
  switch (product_kind(product, shape(x), shape(y))) {
    case ProductKind::number_left:
      return term(x, 0, 0) * term(y, row, column);
    case ProductKind::number_right:
      return term(x, row, column) * term(y, 0, 0);
    case ProductKind::diagonal_left:
      return diagonal_term(x, row) * term(y, row, column);
    case ProductKind::diagonal_right:
      return term(x, row, column) * diagonal_term(y, column);
    case ProductKind::matrices:
      break;
  }
  const Index inner = shape(x).columns;
  // Inside a sum there is no second one: the inner product stays a symbol.
  if (inner > 1 && (row.letter || column.letter)) return opaque(product, row, column);
  if (inner > 1) {
    read(x, {{}, row.index, 0, 1, inner});
    read(y, {{}, 0, column.index, inner, 1});
  }
  return sum({.count = inner,
              .value = [&](Index i) { return value(x, row.index, i) * value(y, i, column.index); },
              .term = [&](const Subscript& i) { return term(x, row, i) * term(y, i, column); }});
}

Term Explainer::call_term(const Expression& call, const Subscript& row, const Subscript& column) {
  if (row.letter || column.letter) return opaque(call, row, column);
  const Function& function = find_function(call.name());
  if (function.explain) {
    Call cell(*this, call, row.index, column.index);
    return function.explain(cell);
  }
  read(call, {{}, row.index, column.index, 1, 1});
  Term cell = opaque(call, row, column);
  cell.formula.text += fmt::format(" ({})", function.words);
  return cell;
}

void Explainer::read(const Expression& expression, Cells block) {
  if (block.rows <= 0 || block.columns <= 0) return;
  if (recorded_value(expression)) {
    block.tensor = expression.name();
    note(std::move(block));
    return;
  }
  const auto all_of = [&](const Expression& argument) {
    const Shape size = shape(argument);
    read(argument, {{}, 0, 0, size.rows, size.columns});
  };
  const auto repeated_block = [&](const Expression& factor) {
    const Shape size = shape(factor);
    Cells part = block;
    if (size.rows == 1) part.first_row = 0, part.rows = 1;
    if (size.columns == 1) part.first_column = 0, part.columns = 1;
    return part;
  };
  const std::span<const Expression> arguments = expression.arguments();
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::transpose:
      read(arguments[0], {{}, block.first_column, block.first_row, block.columns, block.rows});
      break;
    case Expression::Kind::product:
      read_product(expression, block);
      break;
    case Expression::Kind::hadamard:
      for (const Expression& factor : arguments) read(factor, repeated_block(factor));
      break;
    case Expression::Kind::named:
    case Expression::Kind::sum:
    case Expression::Kind::difference:
      for (const Expression& argument : arguments) read(argument, block);
      break;
    case Expression::Kind::diagonal: {
      const Index first = std::max(block.first_row, block.first_column);
      const Index last = std::min(block.first_row + block.rows, block.first_column + block.columns);
      read(arguments[0], {{}, first, 0, last - first, 1});
      break;
    }
    // Which cells a function reads for a whole block only the function knows: all of them, to be safe.
    case Expression::Kind::function:
      for (const Expression& argument : arguments) all_of(argument);
      break;
  }
}

void Explainer::read_product(const Expression& product, const Cells& block) {
  const Expression& x = product.arguments()[0];
  const Expression& y = product.arguments()[1];
  const Cells rows_of_x = {{}, block.first_row, 0, block.rows, shape(x).columns};
  const Cells columns_of_y = {{}, 0, block.first_column, shape(y).rows, block.columns};
  const Cells number = {};
  switch (product_kind(product, shape(x), shape(y))) {
    case ProductKind::number_left:
      return read(x, number), read(y, block);
    case ProductKind::number_right:
      return read(x, block), read(y, number);
    case ProductKind::diagonal_left:
      read(x.arguments()[0], {{}, block.first_row, 0, block.rows, 1});
      return read(y, block);
    case ProductKind::diagonal_right:
      read(y.arguments()[0], {{}, block.first_column, 0, block.columns, 1});
      return read(x, block);
    case ProductKind::matrices:
      return read(x, rows_of_x), read(y, columns_of_y);
  }
}

}  // namespace

Explanation explain(const Equation& equation, const Symbols& symbols, const Record& record, Index row,
                    Index column) {
  return Explainer(equation, symbols, record).explain(row, column);
}

}  // namespace palimpsest
