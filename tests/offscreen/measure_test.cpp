// Where things lie in Measure: curves, their names, crossings, who is fastest, the roofline.

#include "app/views/measure.h"
#include "app/session/races.h"
#include "tests/core/io/files.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// seconds = scale * n^power for some rules and forms on a machine of its own.
RaceReport made_report(const std::string& processor, std::initializer_list<const char*> rules, double scale,
                       const std::string& device = "cpu", Index longest = 4096) {
  RaceReport report;
  report.machine = {.processor = processor, .threads = 2, .program = "palimpsest"};
  if (device != "cpu") report.machine.gpu = "NVIDIA H200";
  report.starts = {{"2026-11-22 09:30 UTC", "palimpsest bench"}};
  report.data = "random";
  report.timing = {{device, "everything"}};
  report.roofs = {{device, Precision::f32, {.bytes_per_second = 2e10, .flops_per_second = 1e11}}};
  double factor = 1;
  for (const char* const rule : rules) {
    const bool is_peer = std::string_view(rule) == "softmax";
    for (const Form form : all_forms) {
      factor *= 1.3;
      for (Index n = 64; n <= longest; n *= 2) {
        const auto x = static_cast<double>(n);
        const double power = is_peer || form == Form::parallel ? 2 : 1;
        const double seconds = scale * factor * (power == 2 ? 0.003 * x * x : x);
        RacePoint point = {.entry = {.variant = rule,
                                     .form = form,
                                     .device = device,
                                     .tokens = n,
                                     .heads = 4,
                                     .chunk_size = has_chunks(form) ? 64 : 0},
                           .repeats = 5,
                           .warmed = true,
                           .compute = {0.9 * seconds, seconds, 1.2 * seconds},
                           .transfers = {},
                           .allocations = {},
                           .whole = {0.9 * seconds, seconds, 1.2 * seconds},
                           .work = {.flops = 1e5 * x, .needed_flops = 1e5 * x, .bytes = 1e3 * x, .moved = 0}};
        if (std::string_view(device) == "cuda")
          point.kernel = form == Form::recurrent ? KernelKind::registers : KernelKind::plain;
        if (form == Form::parallel && n > 1024) {
          point = {.entry = point.entry, .missing = "it would take too long"};
        }
        report.points.push_back(point);
      }
    }
  }
  return report;
}

/// Measure beside a small text, with the reports of `races` alone.
struct InMeasure : ShownProgram {
  explicit InMeasure(Races races = Races("")) : ShownProgram("measure", "preset:overwrite?T=24&K=6&V=6") {
    application.races = std::move(races);
  }

  /// Draws it fully with this report as what was measured here.
  void draw_own(RaceReport report) {
    application.races.adopt(session, std::move(report));
    draw();
  }
};

constexpr std::string_view labels = "measure/times/label";
constexpr std::string_view strip = "measure/times/strip";
constexpr std::string_view leading = "measure/times/point/leads";
constexpr std::string_view others = "measure/times/point/others";
constexpr std::string_view rings = "measure/times/mark/ring";
constexpr std::string_view unmeasured = "measure/times/mark/not measured yet";

std::vector<ImVec2> points_below(std::string_view path) {
  std::vector<ImVec2> points;
  for (const Rectangle& place : places_below(path)) points.push_back(place.middle());
  return points;
}

/// Whether words of the chart are those at the end of a curve.
bool is_end(const Part& part) {
  return part.path.starts_with("measure/times/label/leads") ||
         part.path.starts_with("measure/times/label/others");
}

std::vector<const Part*> ends() {
  std::vector<const Part*> all = parts().below(labels);
  std::erase_if(all, [](const Part* part) { return !is_end(*part); });
  return all;
}

/// The curves of the leading report as the chart has them.
std::vector<PlotSeries> leading_curves(Application& application) {
  std::vector<PlotSeries> curves = race_plot(application, measured(application)).series;
  std::erase_if(curves, [](const PlotSeries& curve) { return !curve.name.starts_with("leads/"); });
  return curves;
}

/// Nothing lies over another thing, and all lies where it belongs.
void check_places(int width) {
  const Rectangle plot = place_of("measure/times/area");
  for (const Part* name : parts().below(labels)) {
    CAPTURE(name->path);
    if (is_end(*name)) {
      CHECK(name->where.minimum.x > plot.maximum.x);
      CHECK(name->where.maximum.x < static_cast<float>(width));
    } else {
      CHECK(name->where.minimum.x >= plot.minimum.x);
      CHECK(name->where.maximum.x <= plot.maximum.x);
    }
  }
  check_apart(places_below(labels));
  check_apart(places_below(strip));
  for (const Rectangle& span : places_below(strip)) CHECK(span.minimum.y >= plot.maximum.y);
  check_apart(places_below("measure/roof/label"));
  for (const ImVec2 point : points_below(leading)) CHECK(plot.grown({1, 0}).holds({point, point}));
  for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
}

}  // namespace

TEST_CASE("Measure shows nothing, one report, several and many curves at both sizes", "[measure]") {
  const TemporaryFolder folder;
  write_file(folder / "gpu.json",
             race_json(made_report("AMD EPYC", {"gated_deltanet", "softmax"}, 1e-8, "cuda", 8192)));
  InMeasure shown;
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    CAPTURE(size.width);
    shown.set_theme(size.width == 1920 ? Theme::light : Theme::dark);
    shown.application.races.forget(shown.session);
    shown.session.change([](SessionState& state) { state.measure = {}; });
    shown.draw();
    CHECK(places_below(leading).empty());
    CHECK_THAT(words_at("measure/headline"), says("Nothing is measured yet"));
    check_places(size.width);

    shown.draw_own(made_report("Xeon", {"gated_deltanet", "softmax"}, 1e-6));
    CHECK(ends().size() == 5);  // four forms, and softmax once
    CHECK(places_below(leading).size() == 3 * 7 + 5 + 7);
    CHECK(places_below(rings).size() == measured(shown.application).figures->crossings.size());
    CHECK_FALSE(places_below("measure/times/label/crossing").empty());
    CHECK(places_below(strip).size() == measured(shown.application).figures->fastest.size());
    CHECK(places_below(others).empty());
    check_places(size.width);

    shown.application.races.open(shown.session, folder / "gpu.json");
    shown.draw();
    CHECK(places_below(others).size() == 3 * 8 + 5 + 8);
    CHECK(ends().size() == 10);
    for (const Part* end : ends()) CHECK_THAT(end->words, !says("…"));
    for (const std::string& name : said_by("measure/side", "name")) CHECK_THAT(name, !says("…"));
    check_places(size.width);

    shown.draw_own(made_report(
        "Xeon",
        {"linear", "retnet", "gla", "deltanet", "gated_deltanet", "kda", "ttt_linear", "lact", "softmax"},
        1e-6));
    CHECK(ends().size() > 20);
    check_places(size.width);
    // A headline that is too long ends with a clause; the others stand below it.
    const std::string& headline = measured(shown.application).figures->headline;
    const std::string said = words_at("measure/headline");
    CHECK((said != headline) == (size.width == 1280));
    if (said != headline) {
      REQUIRE(said.ends_with("."));
      CHECK(headline.starts_with(said.substr(0, said.size() - 1) + ";"));
      CHECK_THAT(words_at("measure/detail"), says(headline.substr(headline.rfind(' ') + 1)));
    }
  }
}

TEST_CASE("under the roofs of two devices a curve says on which it is", "[measure]") {
  InMeasure shown;
  RaceReport both = made_report("Xeon", {"gated_deltanet"}, 1e-6);
  const RaceReport gpu = made_report("Xeon", {"gated_deltanet"}, 1e-7, "cuda");
  both.points.insert(both.points.end(), gpu.points.begin(), gpu.points.end());
  both.roofs.insert(both.roofs.end(), gpu.roofs.begin(), gpu.roofs.end());
  std::erase_if(both.points, [](const RacePoint& point) { return point.entry.form != Form::chunkwise; });
  shown.draw_own(both);
  CHECK_THAT(words_at("measure/used"), says("hunkwise, cuda uses"));
  CHECK_THAT(words_at("measure/used"), says("chunkwise, cpu "));
}

TEST_CASE("the roofline leaves out what no machine can do", "[measure]") {
  struct Broken {
    double flops;
    double bytes;
    double seconds;
    double per_second;  // of the roof
    bool is_told;       // what the curve uses of it
  };
  // The last digits of a number's range: a product or a quotient leaves it.
  for (const Broken& broken : {Broken{1e5, 1e3, 1e-3, 1e11, true}, Broken{1e300, 1e3, 1e-300, 1e11, false},
                               Broken{1e-300, 1e300, 1e-3, 1e11, false}, Broken{1.7e308, 1, 1, 1e11, false},
                               Broken{1e5, 1e3, 1e-3, 1.7e308, true}, Broken{1e5, 1e3, 1e-3, 1e-320, false},
                               Broken{1e5, 1e3, 5e-324, 1e11, false}}) {
    CAPTURE(broken.flops, broken.bytes, broken.seconds, broken.per_second);
    InMeasure shown;
    RaceReport report = made_report("Xeon", {"gated_deltanet"}, 1e-6);
    report.roofs.front().roof.flops_per_second = broken.per_second;
    std::erase_if(report.points, [](const RacePoint& point) { return point.entry.form != Form::chunkwise; });
    report.points.back().work.needed_flops = broken.flops;
    report.points.back().work.bytes = broken.bytes;
    report.points.back().compute.median = broken.seconds;
    shown.draw_own(report);
    CHECK((words_at("measure/used") == "The limits of the machine were not measured.") != broken.is_told);
  }
}

TEST_CASE("rates of the roofline are in one unit, that of the highest, and lengths are those of the chart",
          "[measure]") {
  InMeasure shown;
  REQUIRE(shown.session.state().measure.wish.lengths.back() == 2048);
  shown.resize(usual_sizes[1]);
  for (const double flops : {1e11, 6e13}) {
    RaceReport report = made_report("Xeon", {"linear"}, 1e-6, "cpu", 8192);
    report.roofs[0].roof.flops_per_second = flops;
    shown.draw_own(report);
    CHECK(words_at("measure/controls/lengths") == "n 64 – 8,192");
    const bool is_fast = flops > 1e12;
    CHECK(
        parts().find("measure/roof/axis/y")->words.starts_with(is_fast ? "rate, TFLOP/s" : "rate, GFLOP/s"));
    const std::string roof = is_fast ? "60 TFLOP/s" : "100 GFLOP/s";
    CHECK(std::ranges::count(words_below("measure/roof/label"), roof) == 1);
    for (const std::string& words : words_below("measure/roof/label")) {
      INFO(words);
      CHECK_FALSE(words.ends_with(" T"));
    }
  }
}

TEST_CASE("where a curve that begins takes the lead, or ends, is said and not ringed", "[measure]") {
  InMeasure shown;
  shown.session.change([](SessionState& state) {
    state.measure.wish.precisions = {Precision::f32, Precision::bf16};
  });
  RaceReport report = made_report("Xeon", {"gated_deltanet"}, 1e-6, "cuda");
  const std::vector<RacePoint> points = report.points;
  for (RacePoint point : points) {
    if (point.entry.form != Form::chunkwise || point.entry.tokens < 256) continue;
    point.entry.precision = Precision::bf16;
    point.kernel = KernelKind::tensor_cores;
    for (double Quartiles::*part : {&Quartiles::low, &Quartiles::median, &Quartiles::high})
      point.compute.*part /= 1000;
    report.points.push_back(point);
  }
  for (const Size& size : usual_sizes) {
    shown.resize(size);
    shown.draw_own(report);
    CHECK_THAT(words_at("measure/detail"), says("Tensor cores compute in bf16 and tf32.") && !says("…"));
    CHECK(words_below("measure/times/label/break") ==
          std::vector<std::string>{"n = 256 tokens chunkwise, C = 64, bf16 is measured from here"});
    for (const char* const words : {"f32", "bf16", "not measured"}) {
      INFO(words);
      CHECK(std::ranges::count(words_below("measure/times/legend"), words) == 1);
    }
    for (const PlotSeries& curve : leading_curves(shown.application)) {
      INFO(curve.name);
      const bool is_shorter = curve.label.words.front().starts_with("parallel");
      CHECK((curve.label.notes.size() == 2) == is_shorter);
      if (is_shorter) CHECK(curve.label.notes.back() == "at n = 1,024");
    }
  }
}

TEST_CASE("a crossing is ringed where its curves meet", "[measure]") {
  InMeasure shown;
  shown.resize(usual_sizes[1]);
  shown.draw_own(made_report("Xeon", {"gated_deltanet", "softmax"}, 1e-6));
  const MeasuredNow& now = measured(shown.application);
  const Rectangle plot = place_of("measure/times/area");
  REQUIRE_FALSE(now.figures->crossings.empty());
  for (std::size_t i = 0; i < now.figures->crossings.size(); ++i) {
    // Lengths from 64 to 4,096 are six doublings wide.
    const double part = std::log2(now.figures->crossings[i].crossing.tokens / 64) / 6;
    const double x = plot.minimum.x + part * static_cast<double>(plot.maximum.x - plot.minimum.x);
    CHECK(std::abs(static_cast<double>(points_below(rings)[i].x) - x) < 1);
  }
  // Per token all keep their lengths and change their heights.
  const std::vector<ImVec2> before = points_below(leading);
  shown.session.change([](SessionState& state) { state.measure.per_token = true; });
  shown.draw();
  REQUIRE(points_below(leading).size() == before.size());
  CHECK(std::abs(points_below(leading)[3].x - before[3].x) < 0.5F);
}

TEST_CASE("a report of another machine is not continued here: nothing of it is hatched", "[measure]") {
  const TemporaryFolder folder;
  write_file(folder / "other.json", race_json(made_report("AMD EPYC", {"gated_deltanet", "softmax"}, 1e-8)));
  InMeasure shown;
  shown.application.races.adopt(shown.session, made_report("Xeon", {"gated_deltanet", "softmax"}, 1e-6));
  shown.session.change([](SessionState& state) { state.measure.wish.lengths.push_back(8192); });
  shown.draw();
  CHECK(words_at("measure/question") == "Which is faster here?");
  CHECK(words_at("measure/controls/race") == "go on");
  CHECK(parts().find(unmeasured));
  shown.application.races.open(shown.session, folder / "other.json");
  shown.session.change([&](SessionState& state) { state.measure.leading = folder / "other.json"; });
  shown.draw();
  REQUIRE(measured(shown.application).lead().report->machine.processor == "AMD EPYC");
  CHECK(words_at("measure/question") == "Which is faster on AMD EPYC, 2 threads?");
  CHECK(words_at("measure/controls/race") == "measure here");
  CHECK_FALSE(parts().find(unmeasured));
  CHECK(std::abs(points_below(leading).back().x - place_of("measure/times/area").maximum.x) <
        1);  // no room for more
}

TEST_CASE("nothing that was measured elsewhere in the program seems to be missing", "[measure]") {
  InMeasure shown;
  shown.application.races.adopt(shown.session,
                                made_report("Xeon", {"gated_deltanet", "softmax"}, 1e-6, "cpu", 1024));
  shown.session.change([](SessionState& state) {
    state.measure.wish.devices = {"cpu"};  // a GPU of this machine could be raced too
  });
  shown.draw();
  CHECK_FALSE(parts().find(unmeasured));
  CHECK(words_at("measure/controls/race") == "measure again");
}

TEST_CASE("while reports are being read, Measure says so in every frame", "[measure]") {
  const TemporaryFolder folder;
  write_file(folder / "a.json", race_json(made_report("AMD EPYC", {"gated_deltanet", "softmax"}, 1e-8)));
  InMeasure shown(Races(folder.path()));
  shown.pass();
  CHECK_THAT(words_at("measure/headline"), says("being read"));
  for (int frames = 0; frames < 20 && places_below(leading).empty(); ++frames) {
    CHECK_THAT(words_at("measure/headline"), !says("Nothing is measured"));
    shown.session.questions().wait();
    shown.pass();
  }
  CHECK_FALSE(places_below(leading).empty());
  CHECK(said_by("measure/side", "name").size() == 1);
}

TEST_CASE("a curve of a GPU says with what kernels it was measured", "[measure]") {
  InMeasure shown;
  shown.resize(usual_sizes[1]);
  shown.draw_own(made_report("Xeon", {"gated_deltanet"}, 1e-6, "cuda"));
  std::vector<std::string> kernels;
  for (const PlotSeries& curve : leading_curves(shown.application)) {
    const std::string& note = curve.label.notes.front();
    kernels.push_back(note.substr(note.find(", ") == std::string::npos ? 0 : note.find(", ") + 2));
  }
  // The recurrence, chunk by chunk, in two passes, all at once.
  CHECK(kernels == std::vector<std::string>{"in registers", "plain kernel", "plain kernel", "plain kernel"});
  CHECK_THAT(words_at("measure/headline"), says("chunkwise without tensor cores"));
  for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
}
