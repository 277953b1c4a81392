#include "core/cases/random_case.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

std::vector<double> numbers(const Case& each, const char* name) {
  return std::get<0>(each.arrays->at(name).values);
}

}  // namespace

TEST_CASE("a random case written down is read back") {
  for (const RandomCase& random : {RandomCase{}, RandomCase{.tokens = 0,
                                                 .dk = 3,
                                                 .dv = 9,
                                                 .earlier = 0,
                                                 .initial_state = true,
                                                 .log_gates = true,
                                                 .seed = 18446744073709551615ULL}}) {
    CHECK(parse_random_case(to_string(random)) == random);
  }
  CHECK(parse_random_case("random:T=4") == RandomCase{.tokens = 4});
  for (const char* wrong : {"", "T=4", "random:T", "random:stat", "random:states"}) {
    INFO(wrong);
    CHECK_THAT(input_error([&] { parse_random_case(wrong); }),
               says("is not understood; expected for example random:T="));
  }
  for (const char* wrong : {"random:T=", "random:T=-1", "random:T=4x", "random:K=0", "random:p=1048577",
                            "random:T=99999999999999999999", "random:V=4000000000", "random:seed=-1"}) {
    INFO(wrong);
    CHECK_THAT(input_error([&] { parse_random_case(wrong); }), says("expected a whole number from "));
  }
}

TEST_CASE("the same seed gives the same numbers, another one others") {
  const Variant& variant = find_variant("kda");
  const Case first = random_case(variant, {}, {.seed = 1});
  CHECK(numbers(first, "q") == numbers(random_case(variant, {}, {.seed = 1}), "q"));
  CHECK(numbers(first, "q") != numbers(random_case(variant, {}, {.seed = 2}), "q"));
  CHECK(numbers(first, "q") != numbers(first, "v"));
  // Fixed for all machines and libraries.
  CHECK(numbers(first, "beta").front() == 0x1.d42788ae5c01fp-1);
  CHECK(numbers(first, "q").front() == 0x1.1e6f83a986d37p-2);
}

TEST_CASE("random numbers are what a layer would give") {
  const Case each = random_case(find_variant("kda"), {}, {.tokens = 400, .dk = 9, .dv = 4, .seed = 5});
  const std::vector<double> q = numbers(each, "q");
  const std::vector<double> k = numbers(each, "k");
  const std::vector<double> alpha = numbers(each, "alpha");
  double squares = 0;
  for (const double x : q) squares += x * x;
  CHECK(squares / 400 == Approx(1).margin(0.1));
  for (std::size_t t = 0; t < 400; ++t) {
    double length = 0;
    for (std::size_t i = 9 * t; i < 9 * t + 9; ++i) length += k[i] * k[i];
    CHECK(length == Approx(1));
  }
  CHECK(std::ranges::count(alpha, 0.0) > 10);
  CHECK(std::ranges::count(alpha, 1.0) > 10);
  CHECK(std::ranges::count_if(alpha, [](double a) { return a > 0.5; }) > 2400);
}

TEST_CASE("gates as g are the logarithms of those as alpha") {
  const Case alpha = random_case(find_variant("gla"), {}, {.log_gates = false});
  const Case g = random_case(find_variant("gla"), {}, {.log_gates = true});
  CHECK(numbers(alpha, "k") == numbers(g, "k"));
  const std::vector<double> decays = numbers(alpha, "alpha");
  const std::vector<double> logs = numbers(g, "g");
  for (std::size_t i = 0; i < logs.size(); ++i) CHECK(std::exp(logs[i]) == Approx(decays[i]).margin(1e-15));
}
