#pragma once

#include "core/base/matrix.h"

namespace palimpsest::cpu {

/// A matrix as it lies in memory: row i begins at data + i stride. As a factor it may be taken transposed.
struct Factor {
  const float* data = nullptr;
  Index stride = 0;
  bool is_transposed = false;

  /// The same from row `row` and column `column` on.
  Factor from(Index row, Index column) const {
    const Index offset = is_transposed ? column * stride + row : row * stride + column;
    return {data + offset, stride, is_transposed};
  }
};

/// What is known of C.
enum class Shape {
  any,
  lower,      // only what is not above the diagonal is wanted; the rest is left, or anything
  symmetric,  // so that about half of it is computed; where C is kept, it is symmetric before, too
};

/// C <- keep C + factor A B, with A [M, K], B [K, N] and C [M, N]. Where keep is 0, C is not read.
struct Product {
  Index M = 0;
  Index N = 0;
  Index K = 0;
  Factor A = {};
  Factor B = {};
  float* C = nullptr;
  Index stride = 0;  // of C
  float keep = 0;
  float factor = 1;
  Shape shape = Shape::any;
};

/// Computes a product of f32 in vector instructions, in the calling thread. C overlaps neither factor.
void multiply(const Product& product);

/// The same of a lower triangular A, which is 0 above its diagonal: most of that is not multiplied.
void multiply_lower(Product product);

}  // namespace palimpsest::cpu
