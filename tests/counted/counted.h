#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <limits>

namespace palimpsest::testing {

/// What was computed with numbers of type Counted.
struct Counts {
  double products = 0;         // multiply-adds of matrix products and triangular solves
  double inner_products = 0;   // multiply-adds of x.dot(y)
  double multiplications = 0;  // and divisions, everywhere else
  double exponentials = 0;     // and hyperbolic tangents
};
inline thread_local Counts counts;

/// A double that notes every multiplication: engines compiled with it count themselves. Additions outside of
/// products are not counted.
struct Counted {
  double value = 0;

  constexpr Counted() = default;
  constexpr Counted(double v) : value(v) {}
  template <std::integral Whole>
  constexpr Counted(Whole v) : value(static_cast<double>(v)) {}
  constexpr explicit operator double() const { return value; }

  constexpr Counted operator-() const { return {-value}; }
  Counted& operator+=(Counted other) { return *this = value + other.value; }
  Counted& operator-=(Counted other) { return *this = value - other.value; }
  Counted& operator*=(Counted other) { return *this = *this * other; }
  Counted& operator/=(Counted other) { return *this = *this / other; }
  friend Counted operator+(Counted a, Counted b) { return {a.value + b.value}; }
  friend Counted operator-(Counted a, Counted b) { return {a.value - b.value}; }
  friend Counted operator*(Counted a, Counted b) {
    counts.multiplications += 1;
    return {a.value * b.value};
  }
  friend Counted operator/(Counted a, Counted b) {
    counts.multiplications += 1;
    return {a.value / b.value};
  }
  friend bool operator==(Counted a, Counted b) { return a.value == b.value; }
  friend auto operator<=>(Counted a, Counted b) { return a.value <=> b.value; }

  friend Counted exp(Counted x) {
    counts.exponentials += 1;
    return {std::exp(x.value)};
  }
  friend Counted tanh(Counted x) {
    counts.exponentials += 1;
    return {std::tanh(x.value)};
  }
  friend Counted sqrt(Counted x) { return {std::sqrt(x.value)}; }
  friend Counted abs(Counted x) { return {std::abs(x.value)}; }
};

}  // namespace palimpsest::testing

template <>
class std::numeric_limits<palimpsest::testing::Counted> : public std::numeric_limits<double> {};

namespace Eigen {

template <>
struct NumTraits<palimpsest::testing::Counted> : GenericNumTraits<palimpsest::testing::Counted> {
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 0 };
};

namespace internal {

using palimpsest::testing::Counted;

template <class Xpr>
concept counted = std::is_same_v<typename Xpr::Scalar, Counted>;

/// A product by its definition: what Eigen's own would count depends on how it blocks.
template <class Lhs, class Rhs>
struct counted_product : generic_product_impl_base<Lhs, Rhs, counted_product<Lhs, Rhs>> {
  template <class Destination>
  static void scaleAndAddTo(Destination& destination, const Lhs& lhs, const Rhs& rhs, const Counted& factor) {
    const typename Lhs::PlainObject a(lhs);
    const typename Rhs::PlainObject b(rhs);
    for (Index i = 0; i < a.rows(); ++i) {
      for (Index j = 0; j < b.cols(); ++j) {
        double sum = 0;
        for (Index l = 0; l < a.cols(); ++l) sum += a.coeff(i, l).value * b.coeff(l, j).value;
        destination.coeffRef(i, j) += factor.value * sum;
      }
    }
    palimpsest::testing::counts.products +=
        static_cast<double>(a.rows()) * static_cast<double>(a.cols()) * static_cast<double>(b.cols());
  }
};

#define PALIMPSEST_COUNTED_PRODUCT(Mode) \
  template <counted Lhs, class Rhs>      \
  struct generic_product_impl<Lhs, Rhs, DenseShape, DenseShape, Mode> : counted_product<Lhs, Rhs> {};
PALIMPSEST_COUNTED_PRODUCT(GemmProduct)
PALIMPSEST_COUNTED_PRODUCT(GemvProduct)
PALIMPSEST_COUNTED_PRODUCT(OuterProduct)
PALIMPSEST_COUNTED_PRODUCT(InnerProduct)
PALIMPSEST_COUNTED_PRODUCT(CoeffBasedProductMode)
PALIMPSEST_COUNTED_PRODUCT(LazyCoeffBasedProductMode)
#undef PALIMPSEST_COUNTED_PRODUCT

/// Substitution by its definition, for unit triangular matrices.
template <class Lhs, class Rhs, int Mode>
struct counted_substitution {
  static void run(const Lhs& lhs, Rhs& rhs) {
    static_assert((Mode & UnitDiag) != 0);
    const Index size = lhs.rows();
    const bool lower = (Mode & Lower) != 0;
    for (Index c = 0; c < rhs.cols(); ++c) {
      for (Index step = 0; step < size; ++step) {
        const Index i = lower ? step : size - 1 - step;
        double sum = 0;
        for (Index j = lower ? 0 : i + 1; j < (lower ? i : size); ++j)
          sum += Counted(lhs.coeff(i, j)).value * rhs.coeff(j, c).value;
        rhs.coeffRef(i, c) -= sum;
      }
    }
    const auto cells = static_cast<double>(size) * static_cast<double>(size - 1) / 2;
    palimpsest::testing::counts.products += cells * static_cast<double>(rhs.cols());
  }
};

template <counted Lhs, class Rhs, int Mode>
struct triangular_solver_selector<Lhs, Rhs, OnTheLeft, Mode, NoUnrolling, 1>
    : counted_substitution<Lhs, Rhs, Mode> {};
template <counted Lhs, class Rhs, int Mode>
struct triangular_solver_selector<Lhs, Rhs, OnTheLeft, Mode, NoUnrolling, Dynamic>
    : counted_substitution<Lhs, Rhs, Mode> {};

/// The inner product of two vectors.
template <counted Lhs, class Rhs>
struct dot_nocheck<Lhs, Rhs, false> {
  using ResScalar = Counted;
  static Counted run(const MatrixBase<Lhs>& a, const MatrixBase<Rhs>& b) {
    Counted sum = 0;
    for (Index i = 0; i < a.size(); ++i) sum += a.derived().coeff(i).value * b.derived().coeff(i).value;
    palimpsest::testing::counts.inner_products += static_cast<double>(a.size());
    return sum;
  }
};

}  // namespace internal
}  // namespace Eigen
