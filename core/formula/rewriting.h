#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/formula/expression.h"

namespace palimpsest {

/// What a piece of a formula is replaced with; nothing: it stays, and its arguments are looked into.
using Replacement = std::function<std::optional<Expression>(const Expression&)>;

/// `expression` with every piece that `replacement` takes replaced, from the outside in. What was put in is
/// not looked into.
Expression replaced(const Expression& expression, const Replacement& replacement);

/// Whether two expressions are the same formula.
bool operator==(const Expression& a, const Expression& b);

/// One of the pieces that add up to an expression.
struct AdditivePart {
  double sign = 1;
  Expression expression;
};

/// An expression as a sum, with products and transposes of sums multiplied out: beta k (v - old)^T is beta k
/// v^T less beta k old^T. One part where there is nothing to add. Definitions of named pieces are looked
/// into.
std::vector<AdditivePart> additive_parts(const Expression& expression);

}  // namespace palimpsest
