#pragma once

#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/numbers/polynomial.h"

namespace palimpsest {

/// What some tokens take in one form: numbers, or polynomials in the sizes. Counted is what our engines do;
/// the products are what any implementation by dense matrix products does (spec section 4). Arrays are
/// counted as the rule takes them: feature maps and the scaling of q come before.
template <class Number>
struct Work {
  Number products = 0;  // multiply-adds of matrix products and triangular solves, masked tiles included
  Number seen = 0;      // those of them that a mask leaves: what skipping masked cells would take
  Number multiplications = 0;  // and divisions, outside products: decays, masks, strengths
  Number exponentials = 0;
  Number moved = 0;  // numbers read and written besides inputs and outputs: states, n x n matrices, caches

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
  friend Work operator*(const Work& a, const Number& factor) {
    return {a.products * factor, a.seen * factor, a.multiplications * factor, a.exponentials * factor,
            a.moved * factor};
  }

  /// A product of [a, b] with [b, c], all of it seen.
  static Work product(const Number& a, const Number& b, const Number& c) {
    return {.products = a * b * c, .seen = a * b * c};
  }

  /// Floating point operations: a multiply-add is two, an exponential none (it is counted apart).
  Number flops() const { return Number(2) * products + multiplications; }
};

/// What one head takes in one form.
struct Cost {
  Work<double> total;          // of all its tokens, the last shorter chunk as it is
  Work<Polynomial> per_token;  // in n, C, d_k, ...: the same divided by n where chunks are full
  /// The titles of the shown steps that are not in it: what a rule makes of its inputs and outputs by itself.
  std::vector<std::string> besides = {};
};

/// How many full blocks of `size` cover `tokens`, and the tokens of a last shorter one.
struct Blocks {
  double full = 0;
  double rest = 0;

  Blocks(Index tokens, Index size)
      : full(static_cast<double>(tokens / size)), rest(static_cast<double>(tokens % size)) {}

  /// The work of all blocks; `of` gives that of one with this many tokens.
  template <class Function>
  Work<double> total(Index size, Function of) const {
    Work<double> sum;
    if (full > 0) sum += of(static_cast<double>(size)) * full;
    if (rest > 0) sum += of(rest);
    return sum;
  }
};

}  // namespace palimpsest
