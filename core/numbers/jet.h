#pragma once

#include <Eigen/Core>
#include <cmath>

namespace palimpsest {

/// A number as a function along a line, x(e) = value + slope e + curvature e^2 / 2: a function of jets
/// gives its own value and exact first and second derivative along the line (forward differentiation: no
/// differences, so only rounding is left).
struct Jet {
  double value = 0;
  double slope = 0;
  double curvature = 0;

  Jet() = default;
  Jet(double number) : value(number) {}  // NOLINT(google-explicit-constructor): a constant is a jet
  Jet(double value_, double slope_, double curvature_)
      : value(value_), slope(slope_), curvature(curvature_) {}

  Jet& operator+=(const Jet& other) { return *this = *this + other; }
  Jet& operator-=(const Jet& other) { return *this = *this - other; }
  Jet& operator*=(const Jet& other) { return *this = *this * other; }
  Jet& operator/=(const Jet& other) { return *this = *this / other; }

  /// f(x), from f and its first two derivatives at x.
  Jet mapped(double f, double first, double second) const {
    return {f, first * slope, first * curvature + second * slope * slope};
  }

  friend Jet operator-(const Jet& x) { return {-x.value, -x.slope, -x.curvature}; }
  friend Jet operator+(const Jet& x, const Jet& y) {
    return {x.value + y.value, x.slope + y.slope, x.curvature + y.curvature};
  }
  friend Jet operator-(const Jet& x, const Jet& y) { return x + -y; }
  friend Jet operator*(const Jet& x, const Jet& y) {
    return {x.value * y.value, x.slope * y.value + x.value * y.slope,
            x.curvature * y.value + 2 * x.slope * y.slope + x.value * y.curvature};
  }
  friend Jet operator/(const Jet& x, const Jet& y) {
    const double inverse = 1 / y.value;
    return x * y.mapped(inverse, -inverse * inverse, 2 * inverse * inverse * inverse);
  }
  friend bool operator==(const Jet& x, const Jet& y) { return x.value == y.value; }
  friend bool operator<(const Jet& x, const Jet& y) { return x.value < y.value; }

  friend Jet sqrt(const Jet& x) {
    const double root = std::sqrt(x.value);
    return x.mapped(root, 0.5 / root, -0.25 / (root * x.value));
  }
  friend Jet tanh(const Jet& x) {
    const double t = std::tanh(x.value);
    return x.mapped(t, 1 - t * t, -2 * t * (1 - t * t));
  }
};

}  // namespace palimpsest

template <>
struct Eigen::NumTraits<palimpsest::Jet> : Eigen::NumTraits<double> {
  using Real = palimpsest::Jet;
  using NonInteger = palimpsest::Jet;
  using Nested = palimpsest::Jet;
  using Literal = palimpsest::Jet;
  enum { RequireInitialization = 1, ReadCost = 3, AddCost = 3, MulCost = 9 };
};
