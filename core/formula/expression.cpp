#include "core/formula/expression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"

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
  if (expression.kind() == Expression::Kind::tensor &&
      std::find(names.begin(), names.end(), expression.name()) == names.end()) {
    names.push_back(expression.name());
  }
  for (const Expression& argument : expression.arguments()) collect_operands(argument, names);
}

/// The definitions that may be put in place of their results.
class Expander {
 public:
  Expander(std::span<const Equation> definitions, std::span<const std::string> inlined)
      : definitions_(definitions), inlined_(inlined) {}

  Expression expand(const Expression& expression) {
    return replaced(expression, [this](const Expression& piece) -> std::optional<Expression> {
      if (piece.kind() != Expression::Kind::tensor) return std::nullopt;
      return expand_tensor(piece);
    });
  }

 private:
  Expression expand_tensor(const Expression& tensor) {
    const std::string& name = tensor.name();
    const auto definition = std::find_if(definitions_.begin(), definitions_.end(),
                                         [&](const Equation& each) { return each.result == name; });
    if (definition == definitions_.end() ||
        std::find(inlined_.begin(), inlined_.end(), name) == inlined_.end()) {
      return tensor;
    }
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) {
      throw Error(fmt::format("the definition of \"{}\" reads its own result", name));
    }
    open_.push_back(name);
    Expression expanded = named(name, expand(definition->expression));
    open_.pop_back();
    return expanded;
  }

  std::span<const Equation> definitions_;
  std::span<const std::string> inlined_;
  std::vector<std::string> open_;  // results whose definitions are being expanded
};

void append(std::vector<AdditivePart>& parts, const Expression& expression, double sign) {
  for (AdditivePart& part : additive_parts(expression)) {
    part.sign *= sign;
    parts.push_back(std::move(part));
  }
}

}  // namespace

std::vector<std::string> operands(const Expression& expression) {
  std::vector<std::string> names;
  collect_operands(expression, names);
  return names;
}

Expression expand(const Expression& expression, std::span<const Equation> definitions,
                  std::span<const std::string> inlined) {
  return Expander(definitions, inlined).expand(expression);
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

}  // namespace palimpsest
