#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// The cost of some tokens in one form. Counted is what our engines do; the products are what any
/// implementation by dense matrix products does (spec section 4). Feature maps and the scaling of q are not
/// counted.
struct Work {
  double products = 0;  // multiply-adds of matrix products and triangular solves, masked tiles included
  double seen = 0;      // those of them that are not masked: the cost if masked cells are skipped
  double multiplications = 0;  // and divisions, outside products: decays, masks, strengths
  double exponentials = 0;
  double moved = 0;  // numbers read and written besides inputs and outputs: states, n x n matrices, caches

  Work& operator+=(const Work& other) {
    products = products + other.products;
    seen = seen + other.seen;
    multiplications = multiplications + other.multiplications;
    exponentials = exponentials + other.exponentials;
    moved = moved + other.moved;
    return *this;
  }
  friend Work operator+(Work a, const Work& b) { return a += b; }

  /// Every count times `factor`.
  friend Work operator*(const Work& a, double factor) {
    return {a.products * factor, a.seen * factor, a.multiplications * factor, a.exponentials * factor,
            a.moved * factor};
  }

  /// A product of [a, b] with [b, c], nothing masked.
  static Work product(double a, double b, double c) { return {.products = a * b * c, .seen = a * b * c}; }

  /// Floating point operations: a multiply-add is two, an exponential none (it is counted apart).
  double flops() const { return 2 * products + multiplications; }
};

}  // namespace palimpsest
