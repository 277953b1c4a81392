#include "core/numbers/arithmetic.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// How a format's numbers are written: a sign, these bits for the exponent, and the rest for the fraction.
struct Layout {
  Arithmetic arithmetic;
  int bits;
  int exponent_bits;

  int fraction_bits() const { return bits - 1 - exponent_bits; }
};
constexpr Layout layouts[] = {{Arithmetic::f16, 16, 5}, {Arithmetic::bf16, 16, 8}, {Arithmetic::tf32, 19, 8}};

/// The number that these bits stand for.
double number_of(std::uint32_t bits, const Layout& layout) {
  const int exponent_bits = layout.exponent_bits;
  const int fraction_bits = layout.fraction_bits();
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const double sign = (bits >> (layout.bits - 1)) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/// The upper bits of an f32, rounded to nearest even by integer arithmetic; so many are dropped.
double upper_bits(float x, int dropped) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits += (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
  bits &= ~0U << dropped;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

TEST_CASE("arithmetic: all numbers of f16, bf16 and tf32 stay what they are") {
  for (const Layout& layout : layouts) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 1U << layout.bits; ++bits) {
      const double x = number_of(bits, layout);
      const double y = rounded(x, layout.arithmetic);
      const bool same = std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
      wrong += same ? 0 : 1;
    }
    INFO(name(layout.arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: halfway between any two neighbours the even one is taken, beside it the nearer") {
  for (const Layout& layout : layouts) {
    const Arithmetic arithmetic = layout.arithmetic;
    const std::uint32_t infinite = ((1U << layout.exponent_bits) - 1) << layout.fraction_bits();
    int wrong = 0;
    for (std::uint32_t bits = 0; bits + 1 < infinite; ++bits) {
      const double below = number_of(bits, layout);
      const double above = number_of(bits + 1, layout);
      const double half = below + (above - below) / 2;
      const double even = bits % 2 == 0 ? below : above;
      for (const double sign : {1.0, -1.0}) {
        wrong += rounded(sign * half, arithmetic) == sign * even ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, 0), arithmetic) == sign * below ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, infinity), arithmetic) == sign * above ? 0 : 1;
      }
    }
    INFO(name(layout.arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: overflow begins halfway beyond the largest number") {
  for (const auto& [arithmetic, largest, step] : {std::tuple(Arithmetic::f16, 65504.0, 32.0),
                                                  {Arithmetic::bf16, 0x1.fep127, 0x1p120},
                                                  {Arithmetic::tf32, (2 - 0x1p-10) * 0x1p127, 0x1p117}}) {
    CHECK(format_of(arithmetic).largest == largest);
    CHECK(rounded(std::nextafter(largest + step / 2, 0), arithmetic) == largest);
    CHECK(rounded(largest + step / 2, arithmetic) == infinity);
    CHECK(rounded(-largest - step / 2, arithmetic) == -infinity);
    CHECK(rounded(1e300, arithmetic) == infinity);
    CHECK(rounded(-infinity, arithmetic) == -infinity);
    CHECK(std::isnan(rounded(std::numeric_limits<double>::quiet_NaN(), arithmetic)));
    CHECK(rounded(1e-300, arithmetic) == 0);
    CHECK(std::signbit(rounded(-1e-300, arithmetic)));
  }
}

TEST_CASE("arithmetic: f32 is the float of the machine, tf32 and bf16 its upper bits, f64 changes nothing") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    // Exponents of f32 and a little beyond.
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    x = std::ldexp(fraction, static_cast<int>(random() % 320) - 180);
    const auto as_float = static_cast<float>(x);
    REQUIRE(rounded(x, Arithmetic::f32) == static_cast<double>(as_float));
    if (std::isfinite(as_float)) {
      REQUIRE(rounded(static_cast<double>(as_float), Arithmetic::bf16) == upper_bits(as_float, 16));
      REQUIRE(rounded(static_cast<double>(as_float), Arithmetic::tf32) == upper_bits(as_float, 13));
    }
    REQUIRE(rounded(x, Arithmetic::f64) == x);
  }
}

TEST_CASE("arithmetic: matrices and arrays are rounded element by element, names are known") {
  Matrix<double> x(1, 3);
  x << 1 + 0x1p-9, 1e5, 1e-9;
  Matrix<double> expected(1, 3);
  expected << 1, infinity, 0;
  CHECK(rounded(x, Arithmetic::f16).rightCols(2) == expected.rightCols(2));
  CHECK(rounded(x, Arithmetic::bf16)(0, 0) == 1);
  CHECK(rounded(x, Arithmetic::f16)(0, 0) != 1);
  const Arrays arrays = {{"q", Array({2}, std::vector<float>{1.5f, 1e-9f})}};
  CHECK(rounded(arrays, Arithmetic::f16).at("q")[0] == 1.5);
  CHECK(rounded(arrays, Arithmetic::f16).at("q")[1] == 0);
  for (const Arithmetic arithmetic : all_arithmetics)
    CHECK(arithmetic_called(name(arithmetic)) == arithmetic);
  CHECK_THROWS_WITH(arithmetic_called("f8"), testing::says("tf32, bf16"));
}
