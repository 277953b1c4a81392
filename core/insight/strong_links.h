#pragma once

#include <vector>

#include "core/base/matrix.h"

namespace palimpsest {

/// What one unit of a layer sends to a unit of the next.
struct StrongLink {
  Index from = 0;
  Index to = 0;
  double amount = 0;  // the unit times the weight, or what is taught
};

/// The strongest `count` of what runs between units, amounts [M, N], the weakest of them first; what is 0 or
/// not finite is left out.
std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count);

/// The same of all that x [M] sends through W [M, N].
std::vector<StrongLink> strong_links(const Matrix<double>& W, const Vector<double>& x, std::size_t count);

}  // namespace palimpsest
