#include "core/formula/rewriting.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace palimpsest {

namespace {

Expression with_arguments(const Expression& expression, std::vector<Expression> arguments) {
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      break;
    case Expression::Kind::transpose:
      return transpose(arguments[0]);
    case Expression::Kind::product:
      return arguments[0] * arguments[1];
    case Expression::Kind::hadamard:
      return hadamard(arguments[0], arguments[1]);
    case Expression::Kind::sum:
      return arguments[0] + arguments[1];
    case Expression::Kind::difference:
      return arguments[0] - arguments[1];
    case Expression::Kind::diagonal:
      return diagonal(arguments[0]);
    case Expression::Kind::function:
      return call(expression.name(), std::move(arguments));
    case Expression::Kind::named:
      return named(expression.name(), arguments[0]);
  }
  return expression;
}

}  // namespace

Expression replaced(const Expression& expression, const Replacement& replacement) {
  if (std::optional<Expression> other = replacement(expression)) return *other;
  std::vector<Expression> arguments;
  for (const Expression& argument : expression.arguments()) {
    arguments.push_back(replaced(argument, replacement));
  }
  return with_arguments(expression, std::move(arguments));
}

bool operator==(const Expression& a, const Expression& b) {
  return a.kind() == b.kind() && a.name() == b.name() && std::ranges::equal(a.arguments(), b.arguments());
}

namespace {

using Kind = Expression::Kind;

void append(std::vector<AdditivePart>& parts, const Expression& expression, double sign) {
  for (AdditivePart& part : additive_parts(expression)) {
    part.sign *= sign;
    parts.push_back(std::move(part));
  }
}

/// Every part of x with every part of y.
template <class Join>
std::vector<AdditivePart> joined(const Expression& x, const Expression& y, Join join) {
  std::vector<AdditivePart> parts;
  for (const AdditivePart& left : additive_parts(x)) {
    for (const AdditivePart& right : additive_parts(y))
      parts.push_back({left.sign * right.sign, join(left.expression, right.expression)});
  }
  return parts;
}

}  // namespace

std::vector<AdditivePart> additive_parts(const Expression& expression) {
  const auto arguments = expression.arguments();
  std::vector<AdditivePart> parts;
  switch (expression.kind()) {
    case Kind::sum:
    case Kind::difference:
      append(parts, arguments[0], 1);
      append(parts, arguments[1], expression.kind() == Kind::sum ? 1 : -1);
      return parts;
    case Kind::product:
      return joined(arguments[0], arguments[1],
                    [](const Expression& x, const Expression& y) { return x * y; });
    case Kind::hadamard:
      return joined(arguments[0], arguments[1],
                    [](const Expression& x, const Expression& y) { return hadamard(x, y); });
    case Kind::transpose:
      append(parts, arguments[0], 1);
      for (AdditivePart& part : parts) part.expression = transpose(part.expression);
      return parts;
    case Kind::named:
      append(parts, arguments[0], 1);
      if (parts.size() == 1) return {{1, expression}};
      return parts;
    default:
      return {{1, expression}};
  }
}

}  // namespace palimpsest
