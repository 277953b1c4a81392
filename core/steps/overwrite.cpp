#include "core/steps/overwrite.h"

#include <algorithm>

#include "core/formula/rewriting.h"

namespace palimpsest {

namespace {

using Kind = Expression::Kind;

const Operation* maker_of(const Phase& phase, const std::string& tensor) {
  const auto found =
      std::ranges::find(phase.operations, tensor,
                        [](const Operation& each) -> const std::string& { return each.equation.result; });
  return found == phase.operations.end() ? nullptr : &*found;
}

/// The one factor of a product of tensors, turned or not, that a step of `purpose` makes; null if there is
/// none.
const Operation* factor_of(const Phase& phase, const Expression& product, Purpose purpose) {
  switch (product.kind()) {
    case Kind::tensor: {
      const Operation* maker = maker_of(phase, product.name());
      return maker && maker->purpose == purpose ? maker : nullptr;
    }
    case Kind::transpose:
    case Kind::product:
      for (const Expression& factor : product.arguments()) {
        if (const Operation* found = factor_of(phase, factor, purpose)) return found;
      }
      return nullptr;
    default:
      return nullptr;
  }
}

Expression with(const Expression& product, const std::string& factor, const Expression& other) {
  return replaced(product, [&](const Expression& piece) -> std::optional<Expression> {
    if (piece.kind() == Kind::tensor && piece.name() == factor) return other;
    return std::nullopt;
  });
}

/// An update with an error as its factor that is a difference.
std::optional<Overwrite> divided(const Phase& phase, const Operation& update) {
  const Expression& product = update.equation.expression;
  const Operation* error = factor_of(phase, product, Purpose::error);
  if (!error || error->equation.expression.kind() != Kind::difference) return std::nullopt;
  const std::string& name = error->equation.result;
  const std::span<const Expression> parts = error->equation.expression.arguments();
  return Overwrite{.erased = call("negative", {with(product, name, parts[1])}),
                   .written = with(product, name, parts[0]),
                   .update = tensor(update.equation.result)};
}

/// Whether an update only takes away: its error is an answer of the memory with the opposite sign.
bool only_erases(const Phase& phase, const Operation& update) {
  const Operation* error = factor_of(phase, update.equation.expression, Purpose::error);
  return error && error->equation.expression.kind() != Kind::difference;
}

}  // namespace

std::optional<Overwrite> overwrite_of(const Phase& phase, const Operation& operation) {
  if (operation.purpose != Purpose::update) return std::nullopt;
  std::vector<const Operation*> updates;
  for (const Operation& each : phase.operations) {
    if (each.purpose == Purpose::update) updates.push_back(&each);
  }
  if (updates.size() == 2 && only_erases(phase, *updates[0])) {
    const Expression erased = tensor(updates[0]->equation.result);
    const Expression written = tensor(updates[1]->equation.result);
    return Overwrite{erased, written, erased + written, false};
  }
  return divided(phase, operation);
}

}  // namespace palimpsest
