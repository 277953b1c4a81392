#include "core/formula/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/table.h"
#include "core/formula/functions.h"

namespace palimpsest {

Expression::Expression(Kind kind, std::string name, std::vector<Expression> arguments)
    : node_(std::make_shared<const Node>(Node{kind, std::move(name), std::move(arguments)})) {}

Expression tensor(std::string name) { return {Expression::Kind::tensor, std::move(name), {}}; }
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
  const auto argument = [&](std::size_t i) { return to_string(expression.arguments()[i]); };
  switch (expression.kind()) {
    case Expression::Kind::tensor:
    case Expression::Kind::named:
      return expression.name();
    case Expression::Kind::transpose:
      return argument(0) + "^T";
    case Expression::Kind::product:
      return fmt::format("({} * {})", argument(0), argument(1));
    case Expression::Kind::hadamard:
      return fmt::format("({} o {})", argument(0), argument(1));
    case Expression::Kind::sum:
      return fmt::format("({} + {})", argument(0), argument(1));
    case Expression::Kind::difference:
      return fmt::format("({} - {})", argument(0), argument(1));
    case Expression::Kind::diagonal:
      return fmt::format("Diag({})", argument(0));
    case Expression::Kind::function:
      break;
  }
  std::vector<std::string> arguments;
  for (const Expression& each : expression.arguments()) arguments.push_back(to_string(each));
  return fmt::format("{}({})", expression.name(), fmt::join(arguments, ", "));
}

namespace {

void collect_operands(const Expression& expression, std::vector<std::string>& names) {
  const bool is_new = !is_among(expression.name(), names);
  if (expression.kind() == Expression::Kind::tensor && is_new) names.push_back(expression.name());
  for (const Expression& argument : expression.arguments()) collect_operands(argument, names);
}

void append(std::vector<AdditivePart>& parts, const Expression& expression, double sign) {
  for (AdditivePart& part : additive_parts(expression)) {
    part.sign *= sign;
    parts.push_back(std::move(part));
  }
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

Shape product_shape(const Expression& product, std::span<const Shape> factors) {
  const auto [left, right] = std::pair(factors[0], factors[1]);
  const ProductKind kind = product_kind(product, left, right);
  if (kind == ProductKind::number_left) return right;
  if (kind == ProductKind::number_right) return left;
  if (left.columns != right.rows) misfit("product", product, factors);
  return {left.rows, right.columns};
}

/// The shape of `expression` from those of its arguments; throws Error if they do not fit.
Shape combined(const Expression& expression, std::span<const Shape> arguments) {
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::named:
      return arguments[0];
    case Expression::Kind::transpose:
      return {arguments[0].columns, arguments[0].rows};
    case Expression::Kind::product:
      return product_shape(expression, arguments);
    case Expression::Kind::hadamard:
      if (repeats_over(arguments[0], arguments[1])) return arguments[1];
      if (repeats_over(arguments[1], arguments[0])) return arguments[0];
      misfit("element-wise product", expression, arguments);
    case Expression::Kind::sum:
    case Expression::Kind::difference:
      if (arguments[0] == arguments[1]) return arguments[0];
      misfit(expression.kind() == Expression::Kind::sum ? "sum" : "difference", expression, arguments);
    case Expression::Kind::diagonal:
      if (arguments[0].columns != 1) misfit("Diag of anything but a column", expression, arguments);
      return {arguments[0].rows, arguments[0].rows};
    case Expression::Kind::function:
      return find_function(expression.name()).shape(arguments);
  }
  return {};
}

Matrix<double> multiply(const Expression& product, const Matrix<double>& x, const Matrix<double>& y) {
  switch (product_kind(product, {x.rows(), x.cols()}, {y.rows(), y.cols()})) {
    case ProductKind::number_left:
      return x(0, 0) * y;
    case ProductKind::number_right:
      return x * y(0, 0);
    case ProductKind::diagonal_left:
      return x.diagonal().asDiagonal() * y;
    case ProductKind::diagonal_right:
      return x * y.diagonal().asDiagonal();
    case ProductKind::matrices:
      break;
  }
  return x * y;
}

Matrix<double> multiply_elements(const Matrix<double>& x, const Matrix<double>& y, Shape shape) {
  return Matrix<double>::NullaryExpr(shape.rows, shape.columns, [&](Index i, Index j) {
    return x(repeated(i, x.rows()), repeated(j, x.cols())) * y(repeated(i, y.rows()), repeated(j, y.cols()));
  });
}

}  // namespace

std::vector<std::string> operands(const Expression& expression) {
  std::vector<std::string> names;
  collect_operands(expression, names);
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
  for (const Expression& argument : expression.arguments()) {
    arguments.push_back(replaced(argument, replacement));
  }
  return {expression.kind(), expression.name(), std::move(arguments)};
}

bool operator==(const Expression& a, const Expression& b) {
  return a.kind() == b.kind() && a.name() == b.name() && std::ranges::equal(a.arguments(), b.arguments());
}

std::vector<AdditivePart> additive_parts(const Expression& expression) {
  const auto arguments = expression.arguments();
  std::vector<AdditivePart> parts;
  switch (expression.kind()) {
    case Expression::Kind::sum:
    case Expression::Kind::difference:
      append(parts, arguments[0], 1);
      append(parts, arguments[1], expression.kind() == Expression::Kind::sum ? 1 : -1);
      return parts;
    case Expression::Kind::product:
    case Expression::Kind::hadamard:
      for (const AdditivePart& left : additive_parts(arguments[0])) {
        for (const AdditivePart& right : additive_parts(arguments[1]))
          parts.push_back(
              {left.sign * right.sign, {expression.kind(), {}, {left.expression, right.expression}}});
      }
      return parts;
    case Expression::Kind::transpose:
      append(parts, arguments[0], 1);
      for (AdditivePart& part : parts) part.expression = transpose(part.expression);
      return parts;
    case Expression::Kind::named:
      append(parts, arguments[0], 1);
      if (parts.size() == 1) return {{1, expression}};
      return parts;
    default:
      return {{1, expression}};
  }
}

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
  std::vector<Shape> arguments;
  for (const Expression& argument : expression.arguments()) arguments.push_back(shape(argument, record));
  return combined(expression, arguments);
}

Matrix<double> evaluate(const Expression& expression, const Record& record) {
  if (expression.kind() == Expression::Kind::tensor) return record.at(expression.name());

  std::vector<Matrix<double>> arguments;
  for (const Expression& argument : expression.arguments()) arguments.push_back(evaluate(argument, record));
  const Shape shape = combined(expression, shapes_of(arguments));

  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::named:
      return arguments[0];
    case Expression::Kind::transpose:
      return arguments[0].transpose();
    case Expression::Kind::product:
      return multiply(expression, arguments[0], arguments[1]);
    case Expression::Kind::hadamard:
      return multiply_elements(arguments[0], arguments[1], shape);
    case Expression::Kind::sum:
      return arguments[0] + arguments[1];
    case Expression::Kind::difference:
      return arguments[0] - arguments[1];
    case Expression::Kind::diagonal:
      return arguments[0].col(0).asDiagonal();
    case Expression::Kind::function:
      return find_function(expression.name()).evaluate(arguments);
  }
  return {};
}

}  // namespace palimpsest
