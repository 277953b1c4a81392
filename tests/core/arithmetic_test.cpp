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

/// The number that 16 bits stand for: a sign, `exponent_bits`, and the rest for the fraction.
double number_of(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

struct Half {
  Arithmetic arithmetic;
  int exponent_bits;
};
constexpr Half halves[] = {{Arithmetic::f16, 5}, {Arithmetic::bf16, 8}};

/// bf16 as hardware rounds it: the upper half of an f32, by integer arithmetic.
double bf16_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits += 0x7fff + ((bits >> 16) & 1);
  bits &= 0xffff0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

TEST_CASE("arithmetic: all 65536 numbers of f16 and of bf16 stay what they are") {
  for (const auto& [arithmetic, exponent_bits] : halves) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const double x = number_of(static_cast<std::uint16_t>(bits), exponent_bits);
      const double y = rounded(x, arithmetic);
      const bool same = std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
      wrong += same ? 0 : 1;
    }
    INFO(name(arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: halfway between any two neighbours the even one is taken, beside it the nearer") {
  for (const auto& [arithmetic, exponent_bits] : halves) {
    const int largest = ((1 << exponent_bits) - 1) << (15 - exponent_bits);  // the bits of infinity
    int wrong = 0;
    for (int bits = 0; bits + 1 < largest; ++bits) {
      const double below = number_of(static_cast<std::uint16_t>(bits), exponent_bits);
      const double above = number_of(static_cast<std::uint16_t>(bits + 1), exponent_bits);
      const double half = below + (above - below) / 2;
      const double even = bits % 2 == 0 ? below : above;
      for (const double sign : {1.0, -1.0}) {
        wrong += rounded(sign * half, arithmetic) == sign * even ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, 0), arithmetic) == sign * below ? 0 : 1;
        wrong += rounded(sign * std::nextafter(half, infinity), arithmetic) == sign * above ? 0 : 1;
      }
    }
    INFO(name(arithmetic));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arithmetic: overflow begins halfway beyond the largest number") {
  for (const auto& [arithmetic, largest, step] :
       {std::tuple(Arithmetic::f16, 65504.0, 32.0), {Arithmetic::bf16, 0x1.fep127, 0x1p120}}) {
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

TEST_CASE("arithmetic: f32 is the float of the machine, bf16 the upper half of one, f64 changes nothing") {
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
    if (std::isfinite(as_float))
      REQUIRE(rounded(static_cast<double>(as_float), Arithmetic::bf16) == bf16_of(as_float));
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
  CHECK_THROWS_WITH(arithmetic_called("f8"), testing::says("bf16"));
}
