#pragma once

#include <vector>

#include "core/formula/expression.h"

namespace palimpsest {

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
