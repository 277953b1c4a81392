#pragma once

#include <map>
#include <string>
#include <string_view>

namespace palimpsest {

/// A sum of products of named sizes with whole, also negative, powers: 2 C d_k + 4 d_k d_v. What a cost is
/// before its sizes are known.
class Polynomial {
 public:
  Polynomial(double constant = 0);

  /// The symbol alone, as LaTeX writes it: "d_k".
  static Polynomial symbol(std::string name);

  Polynomial& operator+=(const Polynomial& other);
  friend Polynomial operator+(Polynomial a, const Polynomial& b) { return a += b; }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) { return a += b * -1; }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  friend bool operator==(const Polynomial&, const Polynomial&) = default;

  /// Divided by a power product; throws Error if `divisor` has not exactly one term.
  friend Polynomial operator/(const Polynomial& a, const Polynomial& divisor);

  /// The value; throws Error naming a symbol that `sizes` lack.
  double at(const std::map<std::string, double, std::less<>>& sizes) const;

  /// The terms of the highest degrees: those in which at least `degree` sizes are multiplied.
  Polynomial from_degree(int degree) const;

  /// "2 C d_k + 4 d_k d_v", the terms of most factors first; "0" if there are none.
  std::string latex() const;

 private:
  using Powers = std::map<std::string, int, std::less<>>;  // of every symbol; none is 0

  std::map<Powers, double> terms_;  // none is 0
};

}  // namespace palimpsest
