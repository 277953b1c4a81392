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

}  // namespace palimpsest
