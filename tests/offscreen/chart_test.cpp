// The numbers beside an axis, however narrow its range.

#include "app/widgets/chart.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("an axis has round numbers between its ends, about as many as are asked for", "[chart]") {
  CHECK(round_numbers(0, 1, 4) == std::vector<double>{0, 0.5, 1});
  CHECK(round_numbers(-3, 12, 7) == std::vector<double>{0, 5, 10});
  CHECK(round_numbers(0, 1, 0).empty());
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(-1, 1);
  std::uniform_int_distribution<int> exponent(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    const double from = part(bits) * std::pow(10, exponent(bits));
    const double to = from + std::abs(part(bits)) * std::pow(10, exponent(bits));
    CAPTURE(from, to);
    const std::vector<double> numbers = round_numbers(from, to, 7);
    REQUIRE(numbers.size() <= 8);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double slack = 1e-8 * (to - from);  // an end that is round but for its last digits counts
      REQUIRE(numbers[k] >= from - slack);
      REQUIRE(numbers[k] <= to + slack);
      if (k > 0) REQUIRE(numbers[k] > numbers[k - 1]);
    }
    if (!is_flat(from, to)) REQUIRE(numbers.size() >= 2);
  }
}

TEST_CASE("a range that is made of rounding is flat and has no numbers", "[chart]") {
  for (const double from : {1.0, -1.0, 3e-5, 7e200, 1e-310, 0.0}) {
    double to = from;
    for (int ulps = 0; ulps < 8; ++ulps) {
      CAPTURE(from, ulps);
      CHECK(is_flat(from, to));
      CHECK(round_numbers(from, to, 7).empty());
      to = std::nextafter(to, std::numeric_limits<double>::infinity());
    }
    CHECK_FALSE(is_flat(from, from + std::max(1e-250, 1e-9 * std::abs(from))));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [from, to] :
       {std::pair(1.0, 0.0), {0.0, infinity}, {-infinity, 0.0}, {std::nan(""), 1.0}}) {
    CHECK(is_flat(from, to));
    CHECK(round_numbers(from, to, 7).empty());
  }
}
