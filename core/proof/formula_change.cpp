#include "core/proof/formula_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/formula/rewriting.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

const Operation* find(const Phase& phase, const std::string& id) {
  const auto found = std::ranges::find(phase.operations, id, &Operation::id);
  return found == phase.operations.end() ? nullptr : &*found;
}

/// The smallest pieces that differ, the way to them from the root, and whether they differ in a sign alone.
struct Parting {
  std::vector<std::size_t> path = {};
  Expression is;
  Expression should_be;
  bool is_sign = false;
};

bool adds(const Expression& x) { return x.kind() == Kind::sum || x.kind() == Kind::difference; }

Parting parting(const Expression& is, const Expression& should_be) {
  const auto a = is.arguments();
  const auto b = should_be.arguments();
  if (adds(is) && adds(should_be) && is.kind() != should_be.kind() && std::ranges::equal(a, b))
    return {{}, is, should_be, true};
  if (is.kind() == should_be.kind() && is.name() == should_be.name() && a.size() == b.size()) {
    std::vector<std::size_t> different;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) different.push_back(i);
    }
    if (different.size() == 1) {
      Parting inner = parting(a[different.front()], b[different.front()]);
      inner.path.insert(inner.path.begin(), different.front());
      return inner;
    }
  }
  return {{}, is, should_be, false};
}

/// `x` with the piece at the end of `path` named.
Expression marked(const Expression& x, const std::vector<std::size_t>& path, std::size_t depth = 0) {
  if (depth == path.size()) return named(changed_piece, x);
  std::vector<Expression> arguments(x.arguments().begin(), x.arguments().end());
  arguments[path[depth]] = marked(arguments[path[depth]], path, depth + 1);
  switch (x.kind()) {
    case Kind::tensor:
      break;
    case Kind::transpose:
      return transpose(arguments[0]);
    case Kind::product:
      return arguments[0] * arguments[1];
    case Kind::hadamard:
      return hadamard(arguments[0], arguments[1]);
    case Kind::sum:
      return arguments[0] + arguments[1];
    case Kind::difference:
      return arguments[0] - arguments[1];
    case Kind::diagonal:
      return diagonal(arguments[0]);
    case Kind::function:
      return call(x.name(), arguments);
    case Kind::named:
      return named(x.name(), arguments[0]);
  }
  return x;
}

/// The carry that brings an operand of `expression` another way than it should, if there is one.
const Carry* changed_carry(const Phase& right, const Phase& edited, const Expression& expression) {
  const std::vector<std::string> read = operands(expression);
  for (const Carry& carry : edited.carries) {
    const bool is_right = std::ranges::find(right.carries, carry) != right.carries.end();
    if (!is_right && std::ranges::find(read, carry.to) != read.end()) return &carry;
  }
  return nullptr;
}

bool is_changed(const Phase& right, const Operation& operation) {
  const Operation* const should_be = find(right, operation.id);
  return !should_be || !(should_be->equation.expression == operation.equation.expression);
}

}  // namespace

FormulaChange formula_change(const Phase& right, const Phase& edited, const std::string& id) {
  const Operation* const is = find(edited, id);
  if (!is) throw Error(fmt::format("the edited equations have no operation \"{}\"", id));
  FormulaChange change{.is = is->equation};
  const Operation* const should_be = find(right, id);
  const Expression& expression = is->equation.expression;
  if (should_be && !(should_be->equation.expression == expression)) {
    const Parting parts = parting(expression, should_be->equation.expression);
    change.is.expression = marked(expression, parts.path);
    change.is_sign = parts.is_sign;
    change.piece = parts.is;
    change.should_be = parts.should_be;
  } else if (const Carry* const carry = changed_carry(right, edited, expression)) {
    const Expression operand = tensor(carry->to);
    change.is.expression = replaced(expression, [&](const Expression& x) -> std::optional<Expression> {
      if (x.kind() != Kind::tensor || x.name() != carry->to) return std::nullopt;
      return named(changed_piece, x);
    });
    change.piece = operand;
    change.carried =
        carry->starts_empty ? "starts as 0, whatever was given" : "comes from another step than it should";
  }
  return change;
}

std::string changed_operation(const Phase& right, const Phase& edited, const std::string& id) {
  const Operation* const named = find(edited, id);
  if (named && (is_changed(right, *named) || changed_carry(right, edited, named->equation.expression)))
    return id;
  const auto first = std::ranges::find_if(edited.operations, [&](const Operation& operation) {
    return is_changed(right, operation) && find(right, operation.id);
  });
  return first == edited.operations.end() ? id : first->id;
}

}  // namespace palimpsest
