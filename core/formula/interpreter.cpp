#include "core/formula/expression.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace palimpsest {

std::string to_string(Shape shape) { return fmt::format("[{}, {}]", shape.rows, shape.columns); }

ProductKind product_kind(const Expression& product, Shape left, Shape right) {
  const auto is_number = [](Shape shape) { return shape.rows == 1 && shape.columns == 1; };
  if (is_number(left)) return ProductKind::number_left;
  if (is_number(right)) return ProductKind::number_right;
  if (product.arguments()[0].kind() == Expression::Kind::diagonal) return ProductKind::diagonal_left;
  if (product.arguments()[1].kind() == Expression::Kind::diagonal) return ProductKind::diagonal_right;
  return ProductKind::matrices;
}

namespace {

bool same(Shape a, Shape b) { return a.rows == b.rows && a.columns == b.columns; }

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
  switch (product_kind(product, left, right)) {
    case ProductKind::number_left:
      return right;
    case ProductKind::number_right:
      return left;
    case ProductKind::diagonal_left:
    case ProductKind::diagonal_right:
    case ProductKind::matrices:
      break;
  }
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
      if (!same(arguments[0], arguments[1])) misfit("sum", expression, arguments);
      return arguments[0];
    case Expression::Kind::difference:
      if (!same(arguments[0], arguments[1])) misfit("difference", expression, arguments);
      return arguments[0];
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
  Matrix<double> result(shape.rows, shape.columns);
  for (Index i = 0; i < shape.rows; ++i) {
    for (Index j = 0; j < shape.columns; ++j) {
      result(i, j) =
          x(repeated(i, x.rows()), repeated(j, x.cols())) * y(repeated(i, y.rows()), repeated(j, y.cols()));
    }
  }
  return result;
}

}  // namespace

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
  std::vector<Shape> shapes;
  for (const Expression& argument : expression.arguments()) {
    arguments.push_back(evaluate(argument, record));
    shapes.push_back({arguments.back().rows(), arguments.back().cols()});
  }
  const Shape shape = combined(expression, shapes);

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
