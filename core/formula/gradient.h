#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// The derivatives of the number `x` with respect to the elements of the tensor `name`, in its shape: by
/// reverse differentiation of the formula. What goes through a function is differentiated by central
/// differences there, with about ten digits; everything else is exact but for rounding. Throws Error as
/// evaluate() does.
Matrix<double> gradient(const Expression& x, const std::string& name, const Record& record);

}  // namespace palimpsest
