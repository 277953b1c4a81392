// What a chart of a race shows: curves, who is fastest where, the answer in a sentence.

#include "core/race/lines.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace palimpsest;
using testing::says;

namespace {

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

constexpr Index lengths[] = {64, 256, 1024};

/// Softmax n², in a form that is always slower too; a recurrence 200 n and chunks 400 n. They meet at 200 and
/// 400.
RaceReport crossing_report() {
  RaceReport report;
  for (const Index n : lengths) {
    const auto x = static_cast<double>(n);
    report.points.push_back(point("softmax", Form::parallel, n, 1e-9 * x * x));
    report.points.push_back(point("softmax", Form::recurrent, n, 2e-9 * x * x));
    report.points.push_back(point("gated_deltanet", Form::recurrent, n, 200e-9 * x));
    report.points.push_back(point("gated_deltanet", Form::chunkwise, n, 400e-9 * x));
  }
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
  const auto add = [&](Form form, Index tokens, double low, double median, double high) {
    RacePoint each = point("kda", form, tokens, median);
    each.compute = {low, median, high};
    report.points.push_back(each);
  };
  add(Form::chunkwise, 64, 1, 1, 1);
  add(Form::recurrent, 64, 2, 2, 2);
  add(Form::chunkwise, 256, 4, 4, 4);
  add(Form::recurrent, 256, 3, 3, 3);
  add(Form::chunkwise, 1024, 5, 5, 9);  // the middle halves overlap: nothing crosses, and yet it is shorter
  add(Form::recurrent, 1024, 5, 8, 9);
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
  for (const Index n : lengths) {
    const auto x = static_cast<double>(n);
    report.points.push_back(point("kda", Form::chunkwise, n, 1e-6 * x));
    RacePoint gpu = point("kda", Form::chunkwise, n, 1e-5 + 1e-7 * x, "cuda");
    gpu.whole = {2e-3, 2e-3, 2e-3};
    report.points.push_back(gpu);
  }
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
    for (const Index n : lengths) {
      const auto x = static_cast<double>(n);
      report.points.push_back(point("softmax", Form::parallel, n, 1e-9 * x * x, device));
      report.points.push_back(point("kda", Form::chunkwise, n, 400e-9 * x, device));
    }
  }
  CHECK(figures_of(report, {})
            .headline.starts_with(
                "From n ≈ 400 tokens on, the chunkwise form on cpu is faster than softmax on cpu"));
  RaceReport chunks;
  for (const Index chunk_size : {16, 64}) {
    for (const Index n : lengths) {
      chunks.points.push_back(point("kda", Form::chunkwise, n, 1e-6 * static_cast<double>(n * chunk_size)));
      chunks.points.back().entry.chunk_size = chunk_size;
    }
  }
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
  for (const Index n : lengths)
    report.points.push_back(
        point("gated_deltanet", Form::recurrent, n, 1e-9 * static_cast<double>(n), "cuda"));
  CHECK(figures_of(report, {.forms = {Form::recurrent}}).headline ==
        "The recurrent form on cuda is fastest at every length measured; from n ≈ 100 tokens on, the "
        "recurrent form on cpu is faster than softmax on cpu.");
}

TEST_CASE("softmax in several forms is one curve, which overtakes itself nowhere", "[race]") {
  RaceReport report;
  for (const Index n : lengths) {
    const auto x = static_cast<double>(n);
    report.points.push_back(point("softmax", Form::recurrent, n, 1e-9 * x * x));
    report.points.push_back(point("softmax", Form::chunkwise, n, 200e-9 * x));  // they meet at 200
    report.points.push_back(point("kda", Form::recurrent, n, 1e-3));
  }
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
    std::size_t told = 0;
    for (std::size_t at = figures.headline.find("n ≈ "); at != std::string::npos;
         at = figures.headline.find("n ≈ ", at + 1))
      ++told;
    CHECK(static_cast<std::size_t>(std::ranges::count_if(figures.crossings, &NamedCrossing::is_told)) ==
          told);
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
  for (const Index n : lengths) {
    const auto x = static_cast<double>(n);
    report.points.push_back(point("gated_deltanet", Form::recurrent, n, 1e-7 * x, "cuda"));
    report.points.back().kernel = KernelKind::registers;
    report.points.push_back(point("gated_deltanet", Form::chunkwise, n, 1e-5 * x, "cuda"));
    report.points.back().kernel = KernelKind::plain;
  }
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
  for (const Index n : lengths) {
    const auto x = static_cast<double>(n);
    report.points.push_back(point("kda", Form::chunkwise, n, 1e-9 * x * x));
    report.points.push_back(point("kda", Form::chunkwise, n, 200e-9 * x));
    report.points.back().entry.precision = Precision::f64;
  }
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
