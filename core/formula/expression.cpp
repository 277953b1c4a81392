#include "core/formula/expression.h"

#include <fmt/ranges.h>
#include <ranges>

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/formula/functions.h"

namespace palimpsest {

Expression::Expression(Kind kind, std::string name, std::vector<Expression> arguments)
    : node_(std::make_shared<const Node>(Node{kind, std::move(name), std::move(arguments)})) {}

Expression tensor(std::string name) { return {Expression::Kind::tensor, std::move(name), {}}; }
Expression number_expression(double value) {
  return {Expression::Kind::number, fmt::format("{}", value), {}};
}
Expression transpose(Expression x) { return {Expression::Kind::transpose, {}, {std::move(x)}}; }
Expression operator*(Expression x, Expression y) {
  return {Expression::Kind::product, {}, {std::move(x), std::move(y)}};
}
Expression hadamard(Expression x, Expression y) {
  return {Expression::Kind::hadamard, {}, {std::move(x), std::move(y)}};
}
Expression operator+(Expression x, Expression y) {
  return {Expression::Kind::sum, {}, {std::move(x), std::move(y)}};
}
Expression operator-(Expression x, Expression y) {
  return {Expression::Kind::difference, {}, {std::move(x), std::move(y)}};
}
Expression diagonal(Expression x) { return {Expression::Kind::diagonal, {}, {std::move(x)}}; }
Expression call(std::string function, std::vector<Expression> arguments) {
  return {Expression::Kind::function, std::move(function), std::move(arguments)};
}
Expression named(std::string result, Expression definition) {
  return {Expression::Kind::named, std::move(result), {std::move(definition)}};
}

std::string to_string(const Expression& expression) {
  using enum Expression::Kind;
  static const std::map<Expression::Kind, const char*> between = {
      {product, " * "}, {hadamard, " o "}, {sum, " + "}, {difference, " - "}};
  const Expression::Kind kind = expression.kind();
  if (is_among(kind, {tensor, number, named})) return expression.name();
  const auto written =
      expression.arguments() | std::views::transform([](const Expression& each) { return to_string(each); });
  if (kind == transpose) return written[0] + "^T";
  const char* const* const sign = value_at(between, kind);
  const std::string called = kind == diagonal ? "Diag" : expression.name();
  return fmt::format("{}({})", called, fmt::join(written, sign ? *sign : ", "));
}

namespace {

void collect_names(const Expression& expression, Expression::Kind kind, std::vector<std::string>& names) {
  const bool is_new = !is_among(expression.name(), names);
  if (expression.kind() == kind && is_new) names.push_back(expression.name());
  for (const Expression& argument : expression.arguments()) collect_names(argument, kind, names);
}

/// Whether `factor` has the shape of `whole`, or one row or column that can be repeated over it.
bool repeats_over(Shape factor, Shape whole) {
  return (factor.rows == whole.rows || factor.rows == 1) &&
         (factor.columns == whole.columns || factor.columns == 1);
}

[[noreturn]] void misfit(const char* operation, const Expression& expression, std::span<const Shape> shapes) {
  std::string message = fmt::format("{}: shapes do not fit:", operation);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    message += fmt::format("{} {} {}", i == 0 ? "" : " and", to_string(expression.arguments()[i]),
                           to_string(shapes[i]));
  }
  throw Error(message);
}

/// The shape of `expression` from those of its arguments; throws Error if they do not fit.
Shape combined(const Expression& expression, std::span<const Shape> arguments) {
  using enum Expression::Kind;
  const Expression::Kind kind = expression.kind();
  if (kind == function) return find_function(expression.name()).shape(arguments);
  const Shape x = arguments[0];
  if (kind == named) return x;
  if (kind == transpose) return {x.columns, x.rows};
  if (kind == diagonal) {
    if (x.columns != 1) misfit("Diag of anything but a column", expression, arguments);
    return {x.rows, x.rows};
  }
  const Shape y = arguments[1];
  if (kind == product) {
    const ProductKind how = product_kind(expression, x, y);
    if (how == ProductKind::number_left) return y;
    if (how == ProductKind::number_right) return x;
    if (x.columns != y.rows) misfit("product", expression, arguments);
    return {x.rows, y.columns};
  }
  if (repeats_over(x, y)) return y;
  if (repeats_over(y, x)) return x;
  misfit(kind == hadamard ? "element-wise product"
         : kind == sum    ? "sum"
                          : "difference",
         expression, arguments);
}

Matrix<double> multiply(const Expression& product, const Matrix<double>& x, const Matrix<double>& y) {
  using enum ProductKind;
  const ProductKind kind = product_kind(product, {x.rows(), x.cols()}, {y.rows(), y.cols()});
  if (kind == number_left) return x(0, 0) * y;
  if (kind == number_right) return x * y(0, 0);
  if (kind == diagonal_left) return x.diagonal().asDiagonal() * y;
  if (kind == diagonal_right) return x * y.diagonal().asDiagonal();
  return x * y;
}

/// `operation` on every pair of elements, with one row or column repeated.
template <class Operation>
Matrix<double> by_elements(const Matrix<double>& x, const Matrix<double>& y, Shape shape,
                           Operation operation) {
  if (x.rows() == y.rows() && x.cols() == y.cols()) return x.binaryExpr(y, operation);
  return Matrix<double>::NullaryExpr(shape.rows, shape.columns, [&](Index i, Index j) {
    return operation(x(repeated(i, x.rows()), repeated(j, x.cols())),
                     y(repeated(i, y.rows()), repeated(j, y.cols())));
  });
}

}  // namespace

std::vector<std::string> operands(const Expression& expression, Expression::Kind kind) {
  std::vector<std::string> names;
  collect_names(expression, kind, names);
  return names;
}

double dust_of(const Expression& expression, const Record& record) {
  double largest = 0;
  for (const std::string& name : operands(expression)) {
    if (record.contains(name)) largest = std::max(largest, largest_finite(record.at(name)));
  }
  return dust_share * largest;
}

Expression expand(const Expression& expression, std::span<const Equation> definitions,
                  std::span<const std::string> inlined) {
  std::vector<std::string> open;  // results whose definitions are being expanded
  const Replacement substitute = [&](const Expression& piece) -> std::optional<Expression> {
    if (piece.kind() != Expression::Kind::tensor) return std::nullopt;
    const std::string& name = piece.name();
    const Equation* const definition = row_called(definitions, name, &Equation::result);
    if (!definition || !is_among(name, inlined)) return std::nullopt;
    if (is_among(name, open)) throw Error(fmt::format("the definition of \"{}\" reads its own result", name));
    open.push_back(name);
    Expression expanded = named(name, replaced(definition->expression, substitute));
    open.pop_back();
    return expanded;
  };
  return replaced(expression, substitute);
}

Expression replaced(const Expression& expression, const Replacement& replacement) {
  if (std::optional<Expression> other = replacement(expression)) return *other;
  if (expression.arguments().empty()) return expression;
  std::vector<Expression> arguments;
  for (const Expression& each : expression.arguments()) arguments.push_back(replaced(each, replacement));
  return {expression.kind(), expression.name(), std::move(arguments)};
}

bool operator==(const Expression& a, const Expression& b) {
  return a.kind() == b.kind() && a.name() == b.name() && std::ranges::equal(a.arguments(), b.arguments());
}

std::vector<AdditivePart> additive_parts(const Expression& expression) {
  using enum Expression::Kind;
  const Expression::Kind kind = expression.kind();
  if (is_among(kind, {tensor, number, diagonal, function})) return {{1, expression}};
  const auto arguments = expression.arguments();
  std::vector<AdditivePart> parts = additive_parts(arguments[0]);
  if (kind == named && parts.size() == 1) return {{1, expression}};
  if (kind == transpose) {
    for (AdditivePart& part : parts) part.expression = palimpsest::transpose(part.expression);
  }
  if (kind == named || kind == transpose) return parts;
  const std::vector<AdditivePart> others = additive_parts(arguments[1]);
  if (kind == sum || kind == difference) {
    for (const AdditivePart& other : others)
      parts.push_back({kind == sum ? other.sign : -other.sign, other.expression});
    return parts;
  }
  std::vector<AdditivePart> products;
  for (const AdditivePart& left : parts) {
    for (const AdditivePart& right : others)
      products.push_back({left.sign * right.sign, {kind, {}, {left.expression, right.expression}}});
  }
  return products;
}

double value_of(const Expression& number) { return parse_all<double>(number.name()).value(); }

std::string to_string(Shape shape) { return fmt::format("[{}, {}]", shape.rows, shape.columns); }

ProductKind product_kind(const Expression& product, Shape left, Shape right) {
  constexpr Shape number = {1, 1};
  if (left == number) return ProductKind::number_left;
  if (right == number) return ProductKind::number_right;
  if (product.arguments()[0].kind() == Expression::Kind::diagonal) return ProductKind::diagonal_left;
  if (product.arguments()[1].kind() == Expression::Kind::diagonal) return ProductKind::diagonal_right;
  return ProductKind::matrices;
}

Shape shape(const Expression& expression, const Record& record) {
  if (expression.kind() == Expression::Kind::tensor) {
    const Matrix<double>& value = record.at(expression.name());
    return {value.rows(), value.cols()};
  }
  if (expression.kind() == Expression::Kind::number) return {1, 1};
  std::vector<Shape> arguments;
  for (const Expression& argument : expression.arguments()) arguments.push_back(shape(argument, record));
  return combined(expression, arguments);
}

Matrix<double> evaluate(const Expression& expression, const Record& record) {
  using enum Expression::Kind;
  const Expression::Kind kind = expression.kind();
  if (kind == tensor) return record.at(expression.name());
  if (kind == number) return Matrix<double>::Constant(1, 1, value_of(expression));

  std::vector<Matrix<double>> arguments;
  for (const Expression& argument : expression.arguments()) arguments.push_back(evaluate(argument, record));
  const Shape shape = combined(expression, shapes_of(arguments));

  if (kind == function) return find_function(expression.name()).evaluate(arguments);
  if (kind == named) return arguments[0];
  if (kind == transpose) return arguments[0].transpose();
  if (kind == diagonal) return arguments[0].col(0).asDiagonal();
  if (kind == product) return multiply(expression, arguments[0], arguments[1]);
  if (kind == hadamard) return by_elements(arguments[0], arguments[1], shape, std::multiplies<double>());
  if (kind == sum) return by_elements(arguments[0], arguments[1], shape, std::plus<double>());
  return by_elements(arguments[0], arguments[1], shape, std::minus<double>());
}

}  // namespace palimpsest
