#pragma once

#include "core/formula/expression.h"

namespace palimpsest {

/// How the two factors of a product meet.
enum class ProductKind {
  number_left,  // a [1, 1] factor scales the other
  number_right,
  diagonal_left,   // Diag(x) scales the other's rows
  diagonal_right,  // Diag(x) scales the other's columns
  matrices,        // a sum over the inner index
};

/// How the factors of `product`, of these shapes, meet.
ProductKind product_kind(const Expression& product, Shape left, Shape right);

/// A factor of a Hadamard product with one row or column is repeated: the index to read instead of `index`.
inline Index repeated(Index index, Index size) { return size == 1 ? 0 : index; }

}  // namespace palimpsest
