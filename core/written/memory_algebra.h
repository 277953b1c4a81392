#pragma once

#include "core/written/rule_text.h"

namespace palimpsest {

/// A product of matrices, vectors and diagonals, in order, times numbers. At most one of the factors is a
/// memory.
struct Chain {
  double sign = 1;
  std::vector<Expression> numbers = {};
  std::vector<Expression> factors = {};
};

/// What stops the algebra: why a text is no row program.
struct Stop {
  std::string reason;
};

/// Takes the lines of a rule apart at its memories: sums are multiplied out, products of matrices become
/// chains of vectors and diagonals.
class Algebra {
 public:
  /// `rule` must outlive it.
  explicit Algebra(const RuleText& rule);

  /// The value as a sum of chains, with every result that reads a memory written out, down to `bases`. Throws
  /// Stop.
  std::vector<Chain> chains_of(const Expression& expression, std::vector<std::string> bases);

  bool reads_memory(const Expression& expression) const;

  /// A memory, or a result that reads one.
  bool is_memory(const std::string& name) const;

  /// The line of a result that reads a memory; null for all other names.
  const Expression* defining(const std::string& name) const;

  Shape shape(const Expression& expression) const;
  bool is_vector(const Expression& x, bool column) const;

  /// Where in `factors` the first column stands; their number where there is none.
  std::size_t first_column(std::span<const Expression> factors) const;

 private:
  /// Whether it is a number times the name of a vector: where the result is read, the number is one of its
  /// own.
  bool is_scaled_vector(const Expression& x) const;
  std::vector<Chain> chains(const Expression& x, bool turned) const;
  std::vector<Chain> of_tensor(const Expression& x, bool turned) const;
  std::vector<Chain> products(const Expression& x, const Expression& y, bool turned) const;
  /// One chain after the other. A number that reads a memory, k^T S q, is a chain too: it stands where its
  /// neighbour ends in a vector.
  Chain joined(const Chain& a, Shape size_a, const Chain& b, Shape size_b, bool turned) const;
  /// x o y with a vector is a product with a diagonal.
  std::vector<Chain> elementwise(const Expression& whole, const Expression& x, const Expression& y,
                                 bool turned) const;

  const RuleText& rule_;
  Record specimens_;
  std::vector<Equation> with_memory_;
  std::vector<Equation> scaled_;
  std::vector<std::string> bases_;  // the memories that are not written out
};

/// x^T, without a double transpose; a diagonal stays what it is.
Expression turn(const Expression& x);

}  // namespace palimpsest
