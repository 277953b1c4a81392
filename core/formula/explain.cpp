#include <fmt/format.h>

#include "core/base/table.h"
#include "core/formula/functions.h"

namespace palimpsest {

namespace {

/// "[3,5]"; a column needs only its row, a row only its column, a number nothing.
std::string indices(Shape shape, const Subscript& row, const Subscript& column) {
  if (shape.columns == 1) return shape.rows == 1 ? std::string() : fmt::format("[{}]", row.text());
  if (shape.rows == 1) return fmt::format("[{}]", column.text());
  return fmt::format("[{},{}]", row.text(), column.text());
}

/// A name without a symbol, in LaTeX.
std::string escaped(std::string_view name) {
  std::string latex;
  for (const char c : name) latex += c == '_' ? "\\_" : std::string(1, c);
  return latex;
}

/// What a root at the beginning of `formula` is of: what is in the brackets after it, or the one sign there.
std::string_view under_root(std::string_view formula) {
  std::size_t length = 0;
  int depth = 0;
  do {
    depth += formula[length] == '(' ? 1 : formula[length] == ')' ? -1 : 0;
    ++length;
  } while (depth > 0 && length < formula.size());
  return formula.substr(0, length);
}

/// LaTeX of a formula in which signs between the names are Unicode and words are plain letters.
std::string typeset(std::string_view formula) {
  static constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"·", R"(\,)"},     {"−", "-"},         {"Σ", R"(\sum )"}, {"π", R"(\pi )"},
      {"⊙", R"(\odot )"}, {"‖", R"(\Vert )"}, {"²", "{}^2"},     {"…", R"(\ldots )"}};
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  std::string latex;
  int depth = 0;  // in braces stand parts of symbols
  while (!formula.empty()) {
    const auto sign =
        std::ranges::find_if(signs, [&](const auto& one) { return formula.starts_with(one.first); });
    const bool is_command = formula.front() == '\\';
    depth += formula.front() == '{' ? 1 : formula.front() == '}' ? -1 : 0;
    std::size_t length = is_command ? 1 : 0;
    while (length < formula.size() && is_letter(formula[length])) ++length;
    if (constexpr std::string_view root = "√"; formula.starts_with(root)) {
      const std::string_view of = under_root(formula.substr(root.size()));
      latex += fmt::format(R"(\sqrt{{{}}})", typeset(of.front() == '(' ? of.substr(1, of.size() - 2) : of));
      length = root.size() + of.size();
    } else if (sign != std::end(signs)) {
      latex += sign->second;
      length = sign->first.size();
    } else if (!is_command && depth == 0 && length > 1) {  // "exp", "max", "mean"
      latex += fmt::format(R"(\mathrm{{{}}})", formula.substr(0, length));
    } else {
      length = std::max<std::size_t>(length, 1);
      latex += formula.substr(0, length);
    }
    formula.remove_prefix(length);
  }
  return latex;
}

bool is_inside(const Cells& inner, const Cells& outer) {
  return inner.tensor == outer.tensor && inner.first_row >= outer.first_row &&
         inner.first_column >= outer.first_column &&
         inner.first_row + inner.rows <= outer.first_row + outer.rows &&
         inner.first_column + inner.columns <= outer.first_column + outer.columns;
}

}  // namespace

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

  /// One cell: its number (Value is double), or written out (Term), and then noted as read.
  template <class Value>
  Value cell(const Expression& expression, const Subscript& row, const Subscript& column);
  void read(const Expression& expression, Cells block);
  /// The whole value as a symbol, in brackets if it is compound.
  std::string name(const Expression& expression) const;

 private:
  friend class CallCell;

  /// What is recorded of `expression`: a tensor, or a named subexpression whose value was recorded.
  const Matrix<double>* recorded_value(const Expression& expression) const {
    if (expression.kind() == Expression::Kind::tensor) return &record_.at(expression.name());
    const bool is_recorded = expression.kind() == Expression::Kind::named &&
                             record_.contains(expression.name()) && expression.name() != equation_.result;
    return is_recorded ? &record_.at(expression.name()) : nullptr;
  }

  /// The recorded result, if `call` is the whole right-hand side and its result was recorded.
  const Matrix<double>* own_result(const Expression& call) const {
    if (&call != root_ || !record_.contains(equation_.result)) return nullptr;
    const Matrix<double>& recorded = record_.at(equation_.result);
    const Shape expected = shape(call);
    return recorded.rows() == expected.rows && recorded.cols() == expected.columns ? &recorded : nullptr;
  }

  /// LaTeX, as every name in a formula.
  std::string symbol_text(const std::string& name) const {
    const Symbol* const known = value_at(symbols_, name);
    return known ? known->latex : escaped(name);
  }

  Term symbol_of(const std::string& name, const Matrix<double>& recorded, const Subscript& row,
                 const Subscript& column) const {
    return symbol(symbol_text(name) + indices({recorded.rows(), recorded.cols()}, row, column),
                  recorded(row.index, column.index));
  }

  /// One cell of a compound value, written as one symbol: "(Q Kᵀ)[3,i]".
  Term opaque(const Expression& expression, const Subscript& row, const Subscript& column) {
    return symbol(name(expression) + indices(shape(expression), row, column),
                  cell<double>(expression, row.index, column.index));
  }

  template <class Value>
  Value product_cell(const Expression& product, const Subscript& row, const Subscript& column);
  template <class Value>
  Value call_cell(const Expression& call, const Subscript& row, const Subscript& column);
  void read_product(const Expression& product, const Cells& block);
  void note(Cells cells);

  const Equation& equation_;
  const Symbols& symbols_;
  const Record& record_;
  const Expression* root_ = nullptr;
  std::map<const Expression*, Matrix<double>> call_values_;  // of functions met inside a sum
  std::vector<Cells> sources_;
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
  Term result = cell<Term>(*root_, row, column);
  return {unicode(result.formula.text), typeset(result.formula.text), std::move(result.numbers.text),
          result.value, std::move(sources_)};
}

std::string Explainer::name(const Expression& expression) const {
  using enum Expression::Kind;
  const Expression::Kind kind = expression.kind();
  if (kind == tensor || recorded_value(expression)) return symbol_text(expression.name());
  if (kind == named) return name(expression.arguments()[0]);
  if (kind == number) return expression.name();
  const bool is_atom = kind == transpose || kind == diagonal ||
                       (kind == function && find_function(expression.name()).binds == Precedence::atom);
  return fmt::format(fmt::runtime(is_atom ? "{}" : "({})"), latex(expression, symbols_));
}

void Explainer::note(Cells cells) {
  if (cells.rows <= 0 || cells.columns <= 0) return;
  if (std::ranges::any_of(sources_, [&](const Cells& known) { return is_inside(cells, known); })) return;
  std::erase_if(sources_, [&](const Cells& known) { return is_inside(known, cells); });
  sources_.push_back(std::move(cells));
}

template <class Value>
Value Explainer::cell(const Expression& expression, const Subscript& row, const Subscript& column) {
  using enum Expression::Kind;
  constexpr bool is_written = std::is_same_v<Value, Term>;
  if (const auto* recorded = recorded_value(expression)) {
    if constexpr (!is_written) return (*recorded)(row.index, column.index);
    if (!row.letter && !column.letter) note({expression.name(), row.index, column.index, 1, 1});
    if constexpr (is_written) return symbol_of(expression.name(), *recorded, row, column);
  }
  const auto argument = [&](std::size_t i, const Subscript& r, const Subscript& c) {
    return cell<Value>(expression.arguments()[i], r, c);
  };
  const auto repeated_cell = [&](std::size_t i) {
    const Shape size = shape(expression.arguments()[i]);
    return argument(i, size.rows == 1 ? Subscript(0) : row, size.columns == 1 ? Subscript(0) : column);
  };
  const Expression::Kind kind = expression.kind();
  if constexpr (is_written) {
    if (kind == Expression::Kind::number) return palimpsest::number(value_of(expression));
  } else {
    if (kind == Expression::Kind::number) return value_of(expression);
  }
  if (kind == named) return argument(0, row, column);
  if (kind == transpose) return argument(0, column, row);
  if (kind == product) return product_cell<Value>(expression, row, column);
  if (kind == hadamard) return repeated_cell(0) * repeated_cell(1);
  if (kind == sum) return repeated_cell(0) + repeated_cell(1);
  if (kind == difference) return repeated_cell(0) - repeated_cell(1);
  if (kind == function) return call_cell<Value>(expression, row, column);
  if constexpr (is_written) {  // Diag(x)
    if (row.letter || column.letter) return opaque(expression, row, column);
    return row.index == column.index ? argument(0, row, 0) : palimpsest::number(0);
  } else {
    return row.index == column.index ? argument(0, row, 0) : 0;
  }
}

template <class Value>
Value Explainer::product_cell(const Expression& product, const Subscript& row, const Subscript& column) {
  const Expression& x = product.arguments()[0];
  const Expression& y = product.arguments()[1];
  const auto diagonal_cell = [&](const Expression& diagonal, const Subscript& place) {
    return cell<Value>(diagonal.arguments()[0], place, 0);
  };
  using enum ProductKind;
  const ProductKind kind = product_kind(product, shape(x), shape(y));
  if (kind == number_left) return cell<Value>(x, 0, 0) * cell<Value>(y, row, column);
  if (kind == number_right) return cell<Value>(x, row, column) * cell<Value>(y, 0, 0);
  if (kind == diagonal_left) return diagonal_cell(x, row) * cell<Value>(y, row, column);
  if (kind == diagonal_right) return cell<Value>(x, row, column) * diagonal_cell(y, column);
  const Index inner = shape(x).columns;
  const auto value = [&](Index i) {
    return cell<double>(x, row.index, i) * cell<double>(y, i, column.index);
  };
  if constexpr (std::is_same_v<Value, double>) {
    double total = 0;
    for (Index i = 0; i < inner; ++i) total += value(i);
    return total;
  } else {
    // Inside a sum there is no second one: the inner product stays a symbol.
    if (inner > 1 && (row.letter || column.letter)) return opaque(product, row, column);
    if (inner > 1) {
      read(x, {{}, row.index, 0, 1, inner});
      read(y, {{}, 0, column.index, inner, 1});
    }
    return sum({.count = inner, .value = value, .term = [&](const Subscript& i) {
                  return cell<Term>(x, row, i) * cell<Term>(y, i, column);
                }});
  }
}

template <class Value>
Value Explainer::call_cell(const Expression& call, const Subscript& row, const Subscript& column) {
  if constexpr (std::is_same_v<Value, double>) {
    if (!call_values_.contains(&call)) call_values_.emplace(&call, evaluate(call, record_));
    return call_values_.at(&call)(row.index, column.index);
  } else {
    if (row.letter || column.letter) return opaque(call, row, column);
    CallCell cell(*this, call, row.index, column.index);
    return find_function(call.name()).explain(cell);
  }
}

void Explainer::read(const Expression& expression, Cells block) {
  if (block.rows <= 0 || block.columns <= 0) return;
  if (recorded_value(expression)) {
    block.tensor = expression.name();
    note(std::move(block));
    return;
  }
  using enum Expression::Kind;
  const Expression::Kind kind = expression.kind();
  if (kind == product) return read_product(expression, block);
  for (const Expression& argument : expression.arguments()) {
    const Shape size = shape(argument);
    Cells part = block;
    if (kind == transpose) part = {{}, block.first_column, block.first_row, block.columns, block.rows};
    const bool repeats = kind == hadamard || kind == sum || kind == difference;
    if (repeats && size.rows == 1) part.first_row = 0, part.rows = 1;
    if (repeats && size.columns == 1) part.first_column = 0, part.columns = 1;
    if (kind == diagonal) {
      const Index first = std::max(block.first_row, block.first_column);
      const Index last = std::min(block.first_row + block.rows, block.first_column + block.columns);
      part = {{}, first, 0, last - first, 1};
    }
    // Which cells a function reads for a block is unknown here: note all of them, to be safe.
    if (kind == function) part = {{}, 0, 0, size.rows, size.columns};
    read(argument, part);
  }
}

void Explainer::read_product(const Expression& product, const Cells& block) {
  const Expression& x = product.arguments()[0];
  const Expression& y = product.arguments()[1];
  const Cells rows_of_x = {{}, block.first_row, 0, block.rows, shape(x).columns};
  const Cells columns_of_y = {{}, 0, block.first_column, shape(y).rows, block.columns};
  const Cells number = {};
  using enum ProductKind;
  const ProductKind kind = product_kind(product, shape(x), shape(y));
  if (kind == number_left) return read(x, number), read(y, block);
  if (kind == number_right) return read(x, block), read(y, number);
  if (kind == matrices) return read(x, rows_of_x), read(y, columns_of_y);
  if (kind == diagonal_left)
    return read(x, {{}, block.first_row, block.first_row, block.rows, block.rows}), read(y, block);
  read(y, {{}, block.first_column, block.first_column, block.columns, block.columns}), read(x, block);
}

Shape CallCell::shape(std::size_t argument) const { return explainer_.shape(call_.arguments()[argument]); }

double CallCell::value(std::size_t argument, Index row, Index column) const {
  return explainer_.cell<double>(call_.arguments()[argument], row, column);
}

Term CallCell::at(std::size_t argument, Subscript row, Subscript column) const {
  return explainer_.cell<Term>(call_.arguments()[argument], row, column);
}

void CallCell::reads(std::size_t argument, Index first_row, Index first_column, Index rows,
                     Index columns) const {
  explainer_.read(call_.arguments()[argument], {{}, first_row, first_column, rows, columns});
}

Matrix<double> CallCell::read(std::size_t argument, Index first_row, Index first_column, Index rows,
                              Index columns) const {
  reads(argument, first_row, first_column, rows, columns);
  return Matrix<double>::NullaryExpr(
      rows, columns, [&](Index i, Index j) { return value(argument, first_row + i, first_column + j); });
}

std::string CallCell::name(std::size_t argument) const {
  return explainer_.name(call_.arguments()[argument]);
}

/// Of the recorded result, if the call is the whole right-hand side.
Term CallCell::own(Subscript row, Subscript column) const {
  const Matrix<double>* const recorded = explainer_.own_result(call_);
  return recorded ? explainer_.symbol_of(explainer_.equation_.result, *recorded, row, column)
                  : explainer_.opaque(call_, row, column);
}

void CallCell::reads_own(Index first_row, Index first_column, Index rows, Index columns) const {
  if (explainer_.own_result(call_))
    explainer_.note({explainer_.equation_.result, first_row, first_column, rows, columns});
}

Explanation explain(const Equation& equation, const Symbols& symbols, const Record& record, Index row,
                    Index column) {
  return Explainer(equation, symbols, record).explain(row, column);
}

}  // namespace palimpsest
