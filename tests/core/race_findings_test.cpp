// Statistics of repeats, and where measured curves cross.

#include <cmath>

#include "core/race/lines.h"
#include "tests/catch.h"

using namespace palimpsest;

using testing::says;

namespace {

/// A curve through these points without any spread.
std::vector<TimedLength> curve(const std::vector<std::pair<double, double>>& points) {
  std::vector<TimedLength> all;
  for (const auto& [tokens, seconds] : points) all.push_back({tokens, {seconds, seconds, seconds}});
  return all;
}

/// seconds = scale * tokens^power at these lengths.
std::vector<TimedLength> power_law(double scale, double power, const std::vector<double>& lengths) {
  std::vector<TimedLength> all;
  for (const double tokens : lengths) {
    const double seconds = scale * std::pow(tokens, power);
    all.push_back({tokens, {seconds, seconds, seconds}});
  }
  return all;
}

RacePoint point(const std::string& variant, Form form, const std::string& device, Index tokens,
                double seconds, double whole) {
  return {.entry = {.variant = variant,
                    .form = form,
                    .device = device,
                    .tokens = tokens,
                    .chunk_size = has_chunks(form) ? 64 : 0},
          .repeats = 3,
          .compute = {seconds, seconds, seconds},
          .whole = {whole, whole, whole}};
}

}  // namespace

TEST_CASE("quartiles are read off the sorted values, in between by a straight line", "[race]") {
  CHECK(quartiles({}) == Quartiles{});
  CHECK(quartiles({7}) == Quartiles{7, 7, 7});
  CHECK(quartiles({3, 1}) == Quartiles{1.5, 2, 2.5});
  CHECK(quartiles({5, 1, 4, 2, 3}) == Quartiles{2, 3, 4});
  CHECK(quartiles({4, 1, 3, 2}) == Quartiles{1.75, 2.5, 3.25});
}

TEST_CASE("one time lies below another where the middle halves do not overlap", "[race]") {
  CHECK(Quartiles{1, 2, 3}.below({3.5, 4, 5}));
  CHECK_FALSE(Quartiles{1, 2, 3}.below({3, 4, 5}));
  CHECK_FALSE(Quartiles{3.5, 4, 5}.below({1, 2, 3}));
  CHECK_FALSE(Quartiles{2, 2, 2}.below({2, 2, 2}));
}

TEST_CASE("powers of the length cross where they are equal, wherever the points lie", "[race]") {
  // 1e-6 n^2 = 1e-3 n at n = 1000.
  for (const auto& lengths : {std::vector<double>{10, 100, 300, 3000}, {999, 1001}, {1, 1e6}}) {
    const auto found = crossings(power_law(1e-3, 1, lengths), power_law(1e-6, 2, lengths));
    REQUIRE(found.size() == 1);
    CHECK(std::abs(found[0].tokens - 1000) < 1e-9 * 1000);  // a few logarithms and exponentials
    CHECK(std::abs(found[0].seconds - 1) < 1e-9);
    CHECK(found[0].first_is_faster);
    CHECK_FALSE(crossings(power_law(1e-6, 2, lengths), power_law(1e-3, 1, lengths))[0].first_is_faster);
  }
}

TEST_CASE("curves cross exactly at a shared point where they are equal there", "[race]") {
  const auto found = crossings(curve({{64, 1}, {128, 2}, {256, 5}}), curve({{64, 3}, {128, 2}, {256, 4}}));
  REQUIRE(found.size() == 1);
  CHECK(std::abs(found[0].tokens - 128) < 1e-9 * 128);
  CHECK_FALSE(found[0].first_is_faster);
}

TEST_CASE("after lengths with equal times a curve is ahead from the last of them on", "[race]") {
  const auto found =
      crossings(curve({{1, 1}, {2, 2}, {4, 4}, {8, 9}}), curve({{1, 3}, {2, 2}, {4, 4}, {8, 8}}));
  REQUIRE(found.size() == 1);
  CHECK(std::abs(found[0].tokens - 4) < 1e-9 * 4);
}

TEST_CASE("curves that touch, begin or end together, or have one point, do not cross", "[race]") {
  const auto low = curve({{64, 1}, {128, 2}, {256, 4}});
  CHECK(crossings(low, curve({{64, 2}, {128, 2}, {256, 5}})).empty());
  CHECK(crossings(low, curve({{64, 1}, {128, 3}, {256, 5}})).empty());
  CHECK(crossings(low, curve({{64, 2}, {128, 3}, {256, 4}})).empty());
  CHECK(crossings(low, low).empty());
  CHECK(crossings(curve({{64, 1}}), curve({{64, 2}})).empty());
  CHECK(crossings({}, low).empty());
  // Only one length is shared, although the lines would cross.
  CHECK(crossings(curve({{64, 1}, {128, 9}}), curve({{64, 2}, {256, 3}})).empty());
  CHECK(crossings(curve({{64, 1}, {128, 9}}), curve({{32, 2}, {256, 3}})).empty());
}

TEST_CASE("curves that cross twice are told twice", "[race]") {
  const auto found = crossings(curve({{1, 1}, {2, 4}, {4, 4}}), curve({{1, 2}, {2, 2}, {4, 8}}));
  REQUIRE(found.size() == 2);
  // log2: 0..2 against 1..1 cross in the middle of 0..1, 2..2 against 1..3 in the middle of 1..2.
  CHECK(std::abs(found[0].tokens - std::sqrt(2.0)) < 1e-12);
  CHECK_FALSE(found[0].first_is_faster);
  CHECK(std::abs(found[1].tokens - std::sqrt(8.0)) < 1e-12);
  CHECK(found[1].first_is_faster);
}

TEST_CASE("where spreads overlap no curve is ahead", "[race]") {
  const auto first = curve({{64, 1}, {128, 2}, {256, 4}});
  auto second = curve({{64, 2}, {128, 1.9}, {256, 5}});
  REQUIRE(crossings(first, second).size() == 2);
  second[1].seconds = {1.8, 1.9, 2.0};  // as much as the first took: noise
  CHECK(crossings(first, second).empty());
}

TEST_CASE("lengths that one curve lacks are passed over", "[race]") {
  const auto found =
      crossings(power_law(1e-3, 1, {100, 200, 4000}), power_law(1e-6, 2, {50, 100, 400, 4000, 8000}));
  REQUIRE(found.size() == 1);
  CHECK(std::abs(found[0].tokens - 1000) < 1e-9 * 1000);
}

TEST_CASE("a length is told to two digits", "[race]") {
  CHECK(about(0.4) == "0");
  CHECK(about(7.2) == "7");
  CHECK(about(96) == "96");
  CHECK(about(824) == "820");
  CHECK(about(1949) == "1,900");
  CHECK(about(996) == "1,000");
  CHECK(about(123456) == "120,000");
  CHECK(about(1234567) == "1,200,000");
}

TEST_CASE("a report's crossovers are told in sentences, and only those that there are", "[race]") {
  RaceReport report;
  const auto add = [&](const std::string& variant, Form form, const std::string& device, double at_64,
                       double at_256, double more = 0) {
    // The longer one first: curves are sorted.
    report.points.push_back(point(variant, form, device, 256, at_256, at_256 + more));
    report.points.push_back(point(variant, form, device, 64, at_64, at_64 + more));
  };
  add("softmax", Form::recurrent, "cpu", 1, 32);
  add("softmax", Form::parallel, "cpu", 2, 16);  // the fastest: 1, 16
  add("gated_deltanet", Form::recurrent, "cpu", 3, 12);
  add("gated_deltanet", Form::chunkwise, "cpu", 4, 4);
  add("gated_deltanet", Form::chunkwise, "cuda", 2, 1, 2.5);
  report.points.push_back({.entry = {.variant = "gated_deltanet", .tokens = 64}, .missing = "no such form"});
  std::vector<std::string> told;
  for (const RaceCrossover& crossover : race_crossovers(report)) told.push_back(crossover.sentence);
  // Softmax 1 -> 16 is n^2; the recurrence 3 -> 12 is n: 3 at 64 sqrt(9^...): equal at 64 * 3 = 192. The
  // chunkwise form stays at 4: equal at 128. Chunkwise against recurrent: equal at 64 * 4/3.
  CHECK(told ==
        std::vector<std::string>{
            "From about 190 tokens on, Gated DeltaNet (recurrent) is faster than Softmax attention.",
            "From about 130 tokens on, Gated DeltaNet (chunkwise, C = 64) is faster than Softmax attention.",
            "From about 85 tokens on, Gated DeltaNet (chunkwise, C = 64) is faster than Gated DeltaNet "
            "(recurrent).",
            "From about 120 tokens on, Gated DeltaNet (chunkwise, C = 64) on cuda is faster than Gated "
            "DeltaNet (chunkwise, C = 64) on cpu, transfers counted."});
  CHECK(race_crossovers(report)[0].where == "cpu, f32, B 1, H 1, K 64, V 64");
  CHECK(race_crossovers(report)[3].where == "f32, B 1, H 1, K 64, V 64");
}

TEST_CASE("curves that cross twice are told as from, to and again", "[race]") {
  RaceReport report;
  for (const auto& [tokens, softmax, linear] :
       std::vector<std::tuple<Index, double, double>>{{100, 1, 2}, {1000, 2, 1}, {10000, 4, 8}}) {
    report.points.push_back(point("softmax", Form::parallel, "cpu", tokens, softmax, softmax));
    report.points.push_back(point("linear", Form::parallel, "cpu", tokens, linear, linear));
  }
  const auto found = race_crossovers(report);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0].sentence, says("From about 320 to about 3,200 tokens, Linear attention"));
  CHECK_THAT(found[1].sentence,
             says("From about 3,200 tokens on, Softmax attention is faster") && says(" again."));
}

// With what a GPU measured the points of a report.

namespace {

RaceEntry entry(const std::string& variant, Form form, Precision precision, Index channels = 128) {
  return {.variant = variant,
          .form = form,
          .device = "cuda",
          .precision = precision,
          .tokens = 512,
          .heads = 16,
          .dk = channels,
          .dv = channels,
          .chunk_size = has_chunks(form) ? 64 : 0};
}

}  // namespace

TEST_CASE("a rule with kernels for tensor cores has them in whatever precision it was measured", "[race]") {
  // docs/kernels.md, "What runs where".
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    for (const char* const known : {"gated_deltanet", "kda", "softmax"})
      CHECK(has_tensor_cores(entry(known, Form::chunkwise, precision)));
    for (const char* const other : {"rwkv7", "deltaproduct", "titans", "fox", "mamba", "ttt_linear"})
      CHECK_FALSE(has_tensor_cores(entry(other, Form::chunkwise, precision)));
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::recurrent, precision)));
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::two_pass, precision)));
    // Sizes that do not fit.
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::chunkwise, precision, 256)));
    CHECK_FALSE(has_tensor_cores(entry("softmax", Form::chunkwise, precision, 256)));
    // What another program calls its own is not known.
    CHECK_FALSE(has_tensor_cores(entry("of another program", Form::chunkwise, precision)));
  }
}
