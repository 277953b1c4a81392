// Statistics of repeats, where measured curves cross, and what a chart of a race shows: curves, who is
// fastest where, the answer in a sentence.

#include "core/race/lines.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

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
  std::vector<std::pair<double, double>> points;
  for (const double tokens : lengths) points.emplace_back(tokens, scale * std::pow(tokens, power));
  return curve(points);
}

RacePoint point(const std::string& variant, Form form, Index tokens, double seconds,
                const std::string& device = "cpu") {
  return {.entry = {.variant = variant,
                    .form = form,
                    .device = device,
                    .tokens = tokens,
                    .heads = 4,
                    .chunk_size = has_chunks(form) ? 64 : 0},
          .repeats = 3,
          .compute = {seconds, seconds, seconds},
          .whole = {3 * seconds, 3 * seconds, 3 * seconds}};
}

/// Adds to a report a curve of 64, 256 and 1,024 tokens, `seconds` of each, and shows how to find its points.
std::span<RacePoint> add(RaceReport& report, const std::string& variant, Form form,
                         double (*seconds)(double tokens), const std::string& device = "cpu") {
  for (const Index tokens : {64, 256, 1024})
    report.points.push_back(point(variant, form, tokens, seconds(static_cast<double>(tokens)), device));
  return std::span(report.points).last(3);
}

/// Softmax n², in a form that is always slower too; a recurrence 200 n and chunks 400 n. They meet at 200 and
/// 400.
RaceReport crossing_report() {
  RaceReport report;
  add(report, "softmax", Form::parallel, [](double n) { return 1e-9 * n * n; });
  add(report, "softmax", Form::recurrent, [](double n) { return 2e-9 * n * n; });
  add(report, "gated_deltanet", Form::recurrent, [](double n) { return 200e-9 * n; });
  add(report, "gated_deltanet", Form::chunkwise, [](double n) { return 400e-9 * n; });
  RacePoint missing = point("gated_deltanet", Form::chunkwise, 4096, 1);
  missing.missing = "too long";
  report.points.push_back(missing);
  return report;
}

RaceFigures figures_of(const RaceReport& report, const RaceSelection& selection, bool whole = false) {
  const RaceReport* const all[] = {&report};
  return race_figures(all, 0, selection, whole);
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
    for (const auto& [tokens, seconds] : {std::pair(256, at_256), std::pair(64, at_64)}) {
      report.points.push_back(point(variant, form, tokens, seconds, device));
      report.points.back().whole = {seconds + more, seconds + more, seconds + more};
    }
  };
  add("softmax", Form::recurrent, "cpu", 1, 32);
  add("softmax", Form::parallel, "cpu", 2, 16);  // the fastest: 1, 16
  add("gated_deltanet", Form::recurrent, "cpu", 3, 12);
  add("gated_deltanet", Form::chunkwise, "cpu", 4, 4);
  add("gated_deltanet", Form::chunkwise, "cuda", 2, 1, 2.5);
  report.points.push_back(
      {.entry = {.variant = "gated_deltanet", .tokens = 64, .heads = 4}, .missing = "no such form"});
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
  CHECK(race_crossovers(report)[0].where == "cpu, f32, B 1, H 4, K 64, V 64");
  CHECK(race_crossovers(report)[3].where == "f32, B 1, H 4, K 64, V 64");
}

TEST_CASE("curves that cross twice are told as from, to and again", "[race]") {
  RaceReport report;
  for (const auto& [tokens, softmax, linear] :
       std::vector<std::tuple<Index, double, double>>{{100, 1, 2}, {1000, 2, 1}, {10000, 4, 8}}) {
    report.points.push_back(point("softmax", Form::parallel, tokens, softmax));
    report.points.push_back(point("linear", Form::parallel, tokens, linear));
  }
  const auto found = race_crossovers(report);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0].sentence, says("From about 320 to about 3,200 tokens, Linear attention"));
  CHECK_THAT(found[1].sentence,
             says("From about 3,200 tokens on, Softmax attention is faster") && says(" again."));
}

// With what a GPU measured the points of a report.

namespace {

RaceEntry raced_by(const std::string& variant, Form form, Precision precision, Index channels = 128) {
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
      CHECK(has_tensor_cores(raced_by(known, Form::chunkwise, precision)));
    for (const char* const other : {"rwkv7", "deltaproduct", "titans", "fox", "mamba", "ttt_linear"})
      CHECK_FALSE(has_tensor_cores(raced_by(other, Form::chunkwise, precision)));
    CHECK_FALSE(has_tensor_cores(raced_by("gated_deltanet", Form::recurrent, precision)));
    CHECK_FALSE(has_tensor_cores(raced_by("gated_deltanet", Form::two_pass, precision)));
    // Sizes that do not fit.
    CHECK_FALSE(has_tensor_cores(raced_by("gated_deltanet", Form::chunkwise, precision, 256)));
    CHECK_FALSE(has_tensor_cores(raced_by("softmax", Form::chunkwise, precision, 256)));
    // What another program calls its own is not known.
    CHECK_FALSE(has_tensor_cores(raced_by("of another program", Form::chunkwise, precision)));
  }
}

// What a chart shows of them.

TEST_CASE("the curves of a report are its forms; softmax beside other rules is one curve", "[race]") {
  const RaceReport report = crossing_report();
  const std::vector<RaceLine> lines = race_lines(report);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].any_form);
  CHECK(lines[0].of.variant == "softmax");
  REQUIRE(lines[0].points.size() == 3);
  for (const RacePoint& each : lines[0].points) CHECK(each.entry.form == Form::parallel);  // the faster one
  CHECK(lines[2].points.size() == 3);
  REQUIRE(lines[2].missing.size() == 1);
  CHECK(lines[2].missing.front().missing == "too long");
  const RaceReport alone = selected(report, {.variants = {"softmax"}});
  CHECK(race_lines(alone).size() == 2);
  CHECK_FALSE(race_lines(alone).front().any_form);
}

TEST_CASE("a selection lets pass what it names, and all of what it does not", "[race]") {
  const RaceEntry entry = point("kda", Form::chunkwise, 64, 1).entry;
  CHECK(RaceSelection{}.takes(entry));
  CHECK(RaceSelection{.variants = {"linear", "kda"}, .forms = {Form::chunkwise}, .devices = {"cpu"}}.takes(
      entry));
  CHECK_FALSE(RaceSelection{.variants = {"linear"}}.takes(entry));
  CHECK_FALSE(RaceSelection{.forms = {Form::parallel}}.takes(entry));
  CHECK_FALSE(RaceSelection{.devices = {"cuda"}}.takes(entry));
  CHECK_FALSE(RaceSelection{.precisions = {Precision::f64}}.takes(entry));
  CHECK_FALSE(RaceSelection{.shape = {.heads = 8}}.takes(entry));
}

TEST_CASE("who is fastest changes where curves cross", "[race]") {
  const std::vector<RaceLine> lines = race_lines(crossing_report());
  const std::vector<FastestSpan> spans = lead(lines).spans;
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].line == 0);
  CHECK(spans[1].line == 1);
  CHECK(std::abs(spans[0].from - 64) < 1e-9 * 64);
  // Powers of the length are straight: they meet where 1e-9 n² = 200e-9 n.
  CHECK(std::abs(spans[0].to - 200) < 1e-6 * 200);
  CHECK(std::abs(spans[1].from - 200) < 1e-6 * 200);
  CHECK(std::abs(spans[1].to - 1024) < 1e-9 * 1024);
  CHECK(lead({}).spans.empty());
  CHECK(lead(std::vector<RaceLine>{lines[1]}).spans.size() == 1);
}

TEST_CASE("a curve that ends early leaves the lengths after it to others", "[race]") {
  RaceReport report;
  report.points = {point("linear", Form::recurrent, 64, 1e-3), point("linear", Form::recurrent, 256, 2e-3),
                   point("kda", Form::recurrent, 64, 5e-3), point("kda", Form::recurrent, 256, 6e-3),
                   point("kda", Form::recurrent, 1024, 7e-3)};
  const Lead found = lead(race_lines(report));
  REQUIRE(found.spans.size() == 2);
  CHECK(found.spans[0].line == 0);
  CHECK(std::abs(found.spans[0].to - 256) < 1e-9 * 256);
  CHECK(found.spans[1].line == 1);
  CHECK(found.crossings.empty());  // nothing was overtaken
  CHECK(figures_of(report, {}).headline ==
        "Above n = 256 tokens, KDA (recurrent) is the fastest of those measured there.");
}

TEST_CASE("the answer says from where on what is faster, and by how much at the ends", "[race]") {
  const RaceFigures figures = figures_of(crossing_report(), {.variants = {"gated_deltanet", "softmax"}});
  CHECK(figures.headline ==
        "From n ≈ 200 tokens on, the recurrent form is faster than softmax; from n ≈ 400 tokens on, the "
        "chunkwise form too.");
  CHECK(figures.detail ==
        "At n = 1,024 tokens: recurrent 205 µs, softmax 1.05 ms, 5.1 times as long. At n = 64 tokens: "
        "softmax 4.1 µs, recurrent 12.8 µs, 3.1 times as long.");
  REQUIRE(figures.crossings.size() == 2);
  CHECK(figures.crossings[0].words == "recurrent overtakes softmax");
  CHECK(figures.crossings[0].crossing.faster == 1);
  CHECK(figures.crossings[0].crossing.slower == 0);
  CHECK(figures.crossings[0].crossing.leads);
  CHECK_FALSE(figures.crossings[1].crossing.leads);
  for (const NamedCrossing& each : figures.crossings) CHECK(each.is_told);
  CHECK(figures.crossings[1].sentence ==
        "From n ≈ 400 tokens on, the chunkwise form is faster than softmax.");
  CHECK(figures.crossings[1].where == "cpu, f32, B 1 · H 4 · D 64");
  // Without softmax nothing crosses.
  const RaceFigures forms = figures_of(crossing_report(), {.variants = {"gated_deltanet"}});
  CHECK(forms.headline == "The recurrent form is fastest at every length measured.");
  CHECK(forms.detail ==
        "At n = 1,024 tokens: recurrent 205 µs, chunkwise 410 µs, 2.0 times as long. At n = 64 tokens: "
        "recurrent 12.8 µs, chunkwise 25.6 µs, 2.0 times as long.");
  // One curve has no answer, and nothing none.
  CHECK(
      figures_of(crossing_report(), {.variants = {"gated_deltanet"}, .forms = {Form::chunkwise}}).headline ==
      "");
  CHECK(figures_of({}, {}).headline == "");
}

TEST_CASE("what no longer holds at the longest length is no answer", "[race]") {
  RaceReport report;
  for (const auto& [tokens, chunkwise, recurrent] :
       {std::tuple(64, 1, 2), std::tuple(256, 4, 3), std::tuple(1024, 5, 8)}) {
    report.points.push_back(point("kda", Form::chunkwise, tokens, chunkwise));
    report.points.push_back(point("kda", Form::recurrent, tokens, recurrent));
  }
  // The middle halves overlap: nothing crosses, and yet chunks are shorter.
  report.points[4].compute = {5, 5, 9};
  report.points[5].compute = {5, 8, 9};
  const RaceFigures figures = figures_of(report, {});
  // What the headline and the bar tell is ringed, clear or not.
  REQUIRE(figures.crossings.size() == 2);
  CHECK(figures.crossings[0].crossing.is_clear);
  CHECK_FALSE(figures.crossings[1].crossing.is_clear);
  CHECK_FALSE(figures.crossings[1].crossing.parts);
  CHECK(figures.crossings[1].is_told);
  CHECK(figures.crossings[1].words == "chunkwise overtakes recurrent, within the spread");
  // log(4/3) of log(4/3) + log(8/5) of the way from 256 to 1,024: 433.
  CHECK(figures.headline ==
        "From n ≈ 430 tokens on, the chunkwise form is fastest, by less than the spread of the runs.");
  CHECK(figures.detail ==
        "At n = 1,024 tokens: chunkwise 5 s, recurrent 8 s, 1.6 times as long. At n = 64 tokens: chunkwise 1 "
        "s, recurrent 2 s, 2.0 times as long.");
}

TEST_CASE("what comes apart after it crossed is faster, whatever was before", "[race]") {
  RaceReport report;
  for (const auto& [form, tokens, low, median] : {std::tuple(Form::chunkwise, Index{64}, 1.0, 3.0),
                                                  {Form::recurrent, Index{64}, 1.0, 2.0},
                                                  {Form::chunkwise, Index{256}, 4.0, 4.0},
                                                  {Form::recurrent, Index{256}, 8.0, 8.0}}) {
    report.points.push_back(point("kda", form, tokens, median));
    report.points.back().compute.low = low;
  }
  const RaceFigures figures = figures_of(report, {});
  REQUIRE(figures.crossings.size() == 1);
  CHECK_FALSE(figures.crossings[0].crossing.is_clear);  // before it the runs overlap
  CHECK(figures.crossings[0].crossing.parts);
  CHECK(figures.crossings[0].words == "chunkwise overtakes recurrent");
  // log(3/2) of log(3/2) + log 2 of the way from 64 to 256: 107.
  CHECK(figures.headline == "From n ≈ 110 tokens on, the chunkwise form is fastest.");
}

TEST_CASE("devices are compared by computing alone, or with transfers", "[race]") {
  RaceReport report;
  add(report, "kda", Form::chunkwise, [](double n) { return 1e-6 * n; });
  for (RacePoint& each : add(
           report, "kda", Form::chunkwise, [](double n) { return 1e-5 + 1e-7 * n; }, "cuda"))
    each.whole = {2e-3, 2e-3, 2e-3};
  CHECK(figures_of(report, {}).headline == "The chunkwise form on cuda is fastest at every length measured.");
  // Whole runs take 3e-6 n on the CPU: 2 ms are less from 667 tokens on; between 256 and 1,024 it is a
  // straight line of logarithms.
  const RaceFigures whole = figures_of(report, {}, true);
  REQUIRE(whole.crossings.size() == 1);
  CHECK(std::abs(whole.crossings[0].crossing.tokens - 2000.0 / 3) < 1e-6 * 667);
  CHECK(whole.headline ==
        "From n ≈ 670 tokens on, the chunkwise form on cuda is faster than the chunkwise form on cpu.");
}

TEST_CASE("the answer names what tells curves apart", "[race]") {
  RaceReport report;
  for (const char* device : {"cpu", "cuda"}) {
    add(
        report, "softmax", Form::parallel, [](double n) { return 1e-9 * n * n; }, device);
    add(
        report, "kda", Form::chunkwise, [](double n) { return 400e-9 * n; }, device);
  }
  CHECK(figures_of(report, {})
            .headline.starts_with(
                "From n ≈ 400 tokens on, the chunkwise form on cpu is faster than softmax on cpu"));
  RaceReport chunks;
  for (RacePoint& each : add(chunks, "kda", Form::chunkwise, [](double n) { return 16e-6 * n; }))
    each.entry.chunk_size = 16;
  add(chunks, "kda", Form::chunkwise, [](double n) { return 64e-6 * n; });
  CHECK(figures_of(chunks, {}).headline ==
        "The chunkwise form in chunks of 16 is fastest at every length measured.");
}

TEST_CASE("times that hardly differ are as long", "[race]") {
  RaceReport report;
  report.points = {point("kda", Form::recurrent, 64, 1), point("kda", Form::recurrent, 256, 4),
                   point("kda", Form::chunkwise, 64, 2), point("kda", Form::chunkwise, 256, 4.1)};
  CHECK(figures_of(report, {}).detail ==
        "At n = 256 tokens: recurrent 4 s, chunkwise 4.1 s, about as long. At n = 64 tokens: recurrent 1 s, "
        "chunkwise 2 s, 2.0 times as long.");
}

TEST_CASE("a device that is always fastest is told before what crosses on another", "[race]") {
  RaceReport report = crossing_report();
  add(
      report, "gated_deltanet", Form::recurrent, [](double n) { return 1e-9 * n; }, "cuda");
  CHECK(figures_of(report, {.forms = {Form::recurrent}}).headline ==
        "The recurrent form on cuda is fastest at every length measured; from n ≈ 100 tokens on, the "
        "recurrent form on cpu is faster than softmax on cpu.");
}

TEST_CASE("softmax in several forms is one curve, which overtakes itself nowhere", "[race]") {
  RaceReport report;
  add(report, "softmax", Form::recurrent, [](double n) { return 1e-9 * n * n; });
  add(report, "softmax", Form::chunkwise, [](double n) { return 200e-9 * n; });  // they meet at 200
  add(report, "kda", Form::recurrent, [](double) { return 1e-3; });
  const RaceFigures figures = figures_of(report, {});
  CHECK(figures.lines.front().size() == 2);
  CHECK(figures.crossings.empty());
  CHECK(figures.headline == "Softmax is fastest at every length measured.");
}

TEST_CASE("rings lie on the curves that they name; bar and headline change where rings are", "[race]") {
  std::mt19937 bits(7);
  const auto number = [&] { return static_cast<double>(bits() % 1000) / 1000; };
  const Index all_lengths[] = {64, 128, 256, 512, 1024};
  int rings = 0;
  int unclear = 0;
  for (int round = 0; round < 300; ++round) {
    RaceReport report;
    for (const char* const device : {"cpu", "cuda"}) {
      for (const auto& [rule, form] : {std::pair("softmax", Form::recurrent),
                                       {"softmax", Form::chunkwise},
                                       {"kda", Form::recurrent},
                                       {"kda", Form::chunkwise}}) {
        for (const Index n : all_lengths) {
          if (bits() % 4 == 0) continue;  // curves lack lengths, and bend where others do not
          RacePoint each = point(rule, form, n, std::exp(2 * number()), device);
          each.compute.low *= 1 - 0.2 * number();
          each.compute.high *= 1 + 0.2 * number();
          report.points.push_back(each);
        }
      }
    }
    const RaceFigures figures = figures_of(report, {});
    const std::vector<RaceLine>& lines = figures.lines.front();
    for (const NamedCrossing& named : figures.crossings) {
      const LineCrossing& ring = named.crossing;
      CAPTURE(named.words);
      REQUIRE(ring.faster != ring.slower);
      CHECK(lines[ring.faster].name != lines[ring.slower].name);
      for (const std::size_t which : {ring.faster, ring.slower}) {
        const auto time = seconds_at(lines[which], ring.tokens, false);
        REQUIRE(time);
        CHECK(std::abs(time->median / ring.seconds - 1) < 1e-9);  // a few logarithms and exponentials
      }
      ++rings;
      CHECK((ring.parts || !ring.is_clear));
      if (!ring.parts) ++unclear;
    }
    // The bar changes hands at a ring, unless a curve begins or ends there.
    for (std::size_t i = 0; i + 1 < figures.fastest.size(); ++i) {
      const FastestSpan& before = figures.fastest[i];
      const FastestSpan& after = figures.fastest[i + 1];
      const bool is_ringed = std::ranges::any_of(figures.crossings, [&](const NamedCrossing& each) {
        return each.crossing.leads && each.crossing.faster == after.line &&
               each.crossing.slower == before.line && std::abs(each.crossing.tokens / after.from - 1) < 1e-9;
      });
      const bool both = seconds_at(lines[before.line], after.from * 1.001, false) &&
                        seconds_at(lines[after.line], after.from / 1.001, false);
      CHECK(is_ringed == both);
    }
    // Every length that the headline tells has a ring that says so.
    for (const NamedCrossing& each : figures.crossings) {
      if (!each.is_told) continue;
      CHECK_THAT(figures.headline, says(fmt::format("n ≈ {} tokens on", about(each.crossing.tokens))));
    }
    std::ptrdiff_t told = 0;
    for (std::size_t at = figures.headline.find("n ≈ "); at != std::string::npos;
         at = figures.headline.find("n ≈ ", at + 1))
      ++told;
    CHECK(std::ranges::count_if(figures.crossings, &NamedCrossing::is_told) == told);
    // The detail begins with the fastest at the end, as the bar has it.
    if (figures.detail.empty()) continue;
    const RaceLine& last = lines[figures.fastest.back().line];
    CHECK_THAT(figures.detail,
               says(fmt::format("At n = {} tokens: ", in_digits(last.points.back().entry.tokens))));
    CHECK_THAT(figures.detail, says(" " + duration(last.points.back().compute.median) + ", "));
  }
  CHECK(rings > 100);
  CHECK(unclear > 10);
}

TEST_CASE("curves of plain kernels do not speak for their form", "[race]") {
  RaceReport report;
  add(
      report, "gated_deltanet", Form::recurrent, [](double n) { return 1e-7 * n; }, "cuda");
  add(
      report, "gated_deltanet", Form::chunkwise, [](double n) { return 1e-5 * n; }, "cuda");
  for (RacePoint& each : report.points)
    each.kernel = each.entry.form == Form::recurrent ? KernelKind::registers : KernelKind::plain;
  const RaceFigures figures = figures_of(report, {});
  REQUIRE(figures.lines.front().size() == 2);
  CHECK(figures.lines.front()[0].kernel == KernelKind::registers);
  CHECK(figures.lines.front()[1].kernel == KernelKind::plain);
  CHECK(figures.headline ==
        "The recurrent form is fastest at every length measured; chunkwise without tensor cores.");
  CHECK_THAT(figures.detail, says("Tensor cores compute in bf16 and tf32"));
  for (RacePoint& each : report.points) {
    each.entry.device = "cpu";
    each.kernel.reset();
  }
  CHECK(figures_of(report, {}).headline == "The recurrent form is fastest at every length measured.");
}

TEST_CASE("curves in two precisions are told apart where they cross", "[race]") {
  RaceReport report;
  add(report, "kda", Form::chunkwise, [](double n) { return 1e-9 * n * n; });
  for (RacePoint& each : add(report, "kda", Form::chunkwise, [](double n) { return 200e-9 * n; }))
    each.entry.precision = Precision::f64;
  const RaceFigures figures = figures_of(report, {});
  REQUIRE(figures.crossings.size() == 1);
  CHECK(figures.crossings[0].words == "chunkwise in f64 overtakes chunkwise in f32");
  CHECK(figures.crossings[0].sentence ==
        "From n ≈ 200 tokens on, the chunkwise form in f64 is faster than the chunkwise form in f32.");
  CHECK(figures.crossings[0].where == "cpu, B 1 · H 4 · D 64");
}

TEST_CASE("reports are shown together, and the leading one is compared", "[race]") {
  const RaceReport first = crossing_report();
  RaceReport second;
  second.points = {point("gated_deltanet", Form::recurrent, 64, 1e-6),
                   point("gated_deltanet", Form::recurrent, 256, 4e-6)};
  const RaceReport* const all[] = {&first, &second};
  const RaceFigures figures = race_figures(all, 1, {.variants = {"gated_deltanet", "softmax"}});
  REQUIRE(figures.lines.size() == 2);
  CHECK(figures.lines[0].size() == 3);
  CHECK(figures.lines[1].size() == 1);
  CHECK(figures.crossings.empty());
  REQUIRE(figures.fastest.size() == 1);
  CHECK(figures.headline.empty());
  // None leads.
  CHECK(race_figures(all, 2, {}).fastest.empty());
}

TEST_CASE("what is too short to be told is no point of a curve", "[race]") {
  RaceReport report;
  report.points = {point("kda", Form::chunkwise, 64, 0, "cuda"),
                   point("kda", Form::chunkwise, 256, 1e-6, "cuda")};
  const std::vector<RaceLine> lines = race_lines(report);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].points.size() == 1);
  CHECK(lead(lines).spans.empty());
  report.points = {point("kda", Form::chunkwise, 0, 1e-6), point("kda", Form::chunkwise, 64, 1e-6)};
  CHECK(race_lines(report).front().points.size() == 1);
}

TEST_CASE("lengths, shapes and durations in words", "[race]") {
  CHECK(in_digits(64) == "64");
  CHECK(in_digits(1024) == "1,024");
  CHECK(in_digits(1048576) == "1,048,576");
  CHECK(in_words(RaceShape{1, 16, 128, 128}) == "B 1 · H 16 · D 128");
  CHECK(in_words(RaceShape{4, 2, 16, 7}) == "B 4 · H 2 · K 16 · V 7");
  CHECK(duration(4.42) == "4.42 s");
  CHECK(duration(1234.4) == "1,234 s");
  CHECK(duration(999.7) == "1,000 s");
  CHECK(duration(0.9996) == "1 s");
  CHECK(duration(0.0799) == "79.9 ms");
  CHECK(duration(999.7e-6) == "1 ms");
  CHECK(duration(404e-6) == "404 µs");
}
