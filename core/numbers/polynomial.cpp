#include "core/numbers/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/error.h"

namespace palimpsest {

namespace {

/// "d_k^{2}"; brackets keep the exponent off a subscript.
std::string power(const std::string& symbol, int exponent) {
  if (exponent == 1) return symbol;
  const bool is_letter = symbol.size() == 1;
  return fmt::format("{}{}{}^{{{}}}", is_letter ? "" : "{", symbol, is_letter ? "" : "}", exponent);
}

/// A positive number: whole, as a fraction with a small denominator, or with four digits.
std::string number(double value) {
  for (const int denominator : {1, 2, 3, 4, 6}) {
    const double numerator = value * denominator;
    if (std::abs(numerator - std::round(numerator)) > 1e-9 * numerator) continue;
    if (denominator == 1) return fmt::format("{:.0f}", numerator);
    return fmt::format("\\tfrac{{{:.0f}}}{{{}}}", numerator, denominator);
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace

Polynomial::Polynomial(double constant) {
  if (constant != 0) terms_[{}] = constant;
}

Polynomial Polynomial::symbol(std::string name) {
  Polynomial result;
  result.terms_[{{std::move(name), 1}}] = 1;
  return result;
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  for (const auto& [powers, factor] : other.terms_) {
    double& sum = terms_[powers];
    sum += factor;
    if (sum == 0) terms_.erase(powers);
  }
  return *this;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [powers, factor] : a.terms_) {
    for (const auto& [more, other] : b.terms_) {
      Polynomial::Powers all = powers;
      for (const auto& [symbol, exponent] : more) all[symbol] += exponent;
      std::erase_if(all, [](const auto& entry) { return entry.second == 0; });
      Polynomial term;
      term.terms_[all] = factor * other;
      product += term;
    }
  }
  return product;
}

Polynomial operator/(const Polynomial& a, const Polynomial& divisor) {
  if (divisor.terms_.size() != 1)
    throw Error(fmt::format("a polynomial can only be divided by one term, not by {}", divisor.latex()));
  Polynomial inverse;
  Polynomial::Powers powers = divisor.terms_.begin()->first;
  for (auto& entry : powers) entry.second = -entry.second;
  inverse.terms_[powers] = 1 / divisor.terms_.begin()->second;
  return a * inverse;
}

double Polynomial::at(const std::map<std::string, double, std::less<>>& sizes) const {
  double sum = 0;
  for (const auto& [powers, factor] : terms_) {
    double product = factor;
    for (const auto& [symbol, exponent] : powers) {
      const auto size = sizes.find(symbol);
      if (size == sizes.end()) throw Error(fmt::format("the size {} is not given", symbol));
      product *= std::pow(size->second, exponent);
    }
    sum += product;
  }
  return sum;
}

namespace {

int degree_of(const std::map<std::string, int, std::less<>>& powers) {
  return std::accumulate(powers.begin(), powers.end(), 0,
                         [](int sum, const auto& entry) { return sum + entry.second; });
}

}  // namespace

Polynomial Polynomial::from_degree(int degree) const {
  Polynomial result;
  for (const auto& [powers, factor] : terms_) {
    if (degree_of(powers) >= degree) result.terms_[powers] = factor;
  }
  return result;
}

std::string Polynomial::latex() const {
  std::vector<std::pair<Powers, double>> terms(terms_.begin(), terms_.end());
  std::ranges::stable_sort(
      terms, [](const auto& a, const auto& b) { return degree_of(a.first) > degree_of(b.first); });
  std::string text;
  for (const auto& [powers, factor] : terms) {
    if (!text.empty()) text += factor < 0 ? " - " : " + ";
    if (text.empty() && factor < 0) text += "-";
    std::string term = std::abs(factor) == 1 && !powers.empty() ? "" : number(std::abs(factor));
    for (const auto& [symbol, exponent] : powers)
      term += (term.empty() ? "" : "\\,") + power(symbol, exponent);
    text += term;
  }
  return text.empty() ? "0" : text;
}

}  // namespace palimpsest
