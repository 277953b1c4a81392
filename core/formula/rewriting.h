#pragma once

#include <functional>
#include <optional>

#include "core/formula/expression.h"

namespace palimpsest {

/// What a piece of a formula is replaced with; nothing: it stays, and its arguments are looked into.
using Replacement = std::function<std::optional<Expression>(const Expression&)>;

/// `expression` with every piece that `replacement` takes replaced, from the outside in. What was put in is
/// not looked into.
Expression replaced(const Expression& expression, const Replacement& replacement);

/// Whether two expressions are the same formula.
bool operator==(const Expression& a, const Expression& b);

}  // namespace palimpsest
