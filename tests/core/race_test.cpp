// What a race measures, keeps, skips and leaves out, by a device that takes the times it is told.

#include "core/race/race.h"

#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/told_device.h"

using namespace palimpsest;
using testing::says;

namespace {

/// Computes nothing: run number i of the device takes `seconds(i)`.
class TimedBackend : public testing::ToldDevice {
 public:
  std::function<double(Index run, Index tokens)> seconds = [](Index, Index) { return 1.0; };
  std::function<void()> before_run = [] {};
  bool repeats_itself = false;  // computes as often as it is asked to; each time takes 1 longer
  mutable std::vector<Repeats> asked;
  mutable Index runs = 0;
  mutable Index roofs = 0;

  std::string name() const override { return "timed"; }
  RunTimes measure(const Variant&, std::span<const Sequence> heads, Form, Precision, Index,
                   const Repeats& repeats, std::stop_token stop) const override {
    before_run();
    if (stop.stop_requested()) throw Cancelled();
    asked.push_back(repeats);
    const double time = seconds(runs++, heads.front().tokens);
    RunTimes times = {.compute = {time},
                      .transfers = 2 * time,
                      .allocations = 3 * time,
                      .whole = 10 * time,
                      .spent = 10 * time};
    while (repeats_itself && static_cast<Index>(times.compute.size()) < repeats.most)
      times.compute.push_back(time + static_cast<double>(times.compute.size()));
    return times;
  }
  std::optional<Roof> roof(Precision) const override {
    ++roofs;
    return Roof{.bytes_per_second = 1e9, .flops_per_second = 1e10};
  }
};

RacePlan small_plan(const TimedBackend& backend, std::vector<Index> lengths = {5, 17},
                    std::vector<Form> forms = {Form::recurrent, Form::chunkwise}) {
  return {.variants = {"linear"},
          .peer = false,
          .forms = std::move(forms),
          .backends = {&backend},
          .lengths = std::move(lengths),
          .heads = {3},
          .sizes = {{4, 3}},
          .chunk_sizes = {4},
          .repeats = 5,
          .seconds = 1e6,
          .longest = 1e9};
}

}  // namespace

TEST_CASE("a plan is every combination, short lengths first, a chunk size only where there are chunks",
          "[race]") {
  const TimedBackend backend;
  RacePlan plan = small_plan(backend);
  plan.variants = {"linear", "gla", "linear"};
  plan.peer = true;
  plan.lengths = {5, 17, 5};
  plan.chunk_sizes = {4, 8};
  const std::vector<RaceEntry> entries = race_entries(plan);
  CHECK(entries.size() == 3 * 2 * 3);  // softmax, linear, GLA; two lengths; recurrent and two chunk sizes
  CHECK(entries.front().variant == "softmax");
  CHECK(entries.front().tokens == 5);
  CHECK(entries.back().variant == "gla");
  CHECK(entries.back().tokens == 17);
  for (const RaceEntry& entry : entries) CHECK((entry.chunk_size > 0) == has_chunks(entry.form));
  plan.variants = {"retro"};
  CHECK_THROWS_AS(race_entries(plan), InputError);
}

TEST_CASE("a run that does not count, then repeats: median and quartiles of each part", "[race]") {
  TimedBackend backend;
  backend.seconds = [](Index run, Index) { return run % 6 == 0 ? 1000.0 : static_cast<double>(run % 6); };
  const RaceReport report = race(small_plan(backend));
  CHECK(report.complete());
  REQUIRE(report.points.size() == 4);
  for (const RacePoint& point : report.points) {
    CHECK(point.repeats == 5);
    CHECK(point.warmed);
    CHECK(point.compute == Quartiles{2, 3, 4});
    CHECK(point.transfers == Quartiles{4, 6, 8});
    CHECK(point.allocations == Quartiles{6, 9, 12});
    CHECK(point.whole == Quartiles{20, 30, 40});
  }
  CHECK(backend.runs == 4 * 6);
}

TEST_CASE("repeats end when the time for a point is spent, but never before the least number", "[race]") {
  TimedBackend backend;
  RacePlan plan = small_plan(backend, {5}, {Form::recurrent});
  plan.repeats = 11;
  plan.least_repeats = 3;
  plan.seconds = 45;  // a run takes 10 by the clock
  CHECK(race(plan).points.front().repeats == 5);
  plan.seconds = 15;
  CHECK(race(plan).points.front().repeats == 3);
  CHECK(race(plan).points.front().warmed);
  // The first run alone is longer than that: it counts.
  plan.seconds = 9;
  backend.runs = 0;
  const RacePoint point = race(plan).points.front();
  CHECK(point.repeats == 3);
  CHECK_FALSE(point.warmed);
  CHECK(backend.runs == 3);
}

TEST_CASE("a device that computes again while it has the inputs is given them once", "[race]") {
  TimedBackend backend;
  backend.repeats_itself = true;
  RacePlan plan = small_plan(backend, {5}, {Form::recurrent});
  plan.seconds = 100;
  const RacePoint point = race(plan).points.front();
  CHECK(backend.runs == 1);
  REQUIRE(backend.asked.size() == 1);
  CHECK(backend.asked[0].most == plan.repeats);
  CHECK(backend.asked[0].least == plan.least_repeats);
  CHECK(backend.asked[0].seconds == plan.seconds);
  CHECK(point.warmed);
  CHECK(point.repeats == plan.repeats);
  CHECK(point.compute == Quartiles{2, 3, 4});
  CHECK(point.transfers == Quartiles{2, 2, 2});
}

TEST_CASE("a point holds the work of all heads, and how near it comes to the roof", "[race]") {
  TimedBackend backend;
  backend.seconds = [](Index, Index) { return 1e-6; };
  RacePlan plan = small_plan(backend);
  plan.batches = {2};
  const RaceReport report = race(plan);
  const RacePoint& point = report.points.front();
  // Linear attention, recurrent: a write and a read of K V multiply-adds, and K multiplications; q, k, v and
  // o in f32; of 6 heads.
  CHECK(point.work.flops == 6 * 5 * (2 * (2 * 4 * 3) + 4));
  CHECK(point.work.needed_flops == point.work.flops);
  CHECK(point.work.bytes == 6 * 5 * (4 + 4 + 3 + 3) * 4);
  CHECK(backend.roofs == 1);
  // 1680 bytes at 1e9 a second are longer than 1560 FLOPs at 1e10.
  CHECK(std::abs(roof_fraction(point, report) - 1.68) < 1e-12);
  CHECK(roof_fraction(point, {}) == 0);
  RacePoint heavy = point;
  heavy.work = {.needed_flops = 4e10, .bytes = 1e9};  // 4 s, 1 s
  heavy.compute.median = 8;
  CHECK(roof_fraction(heavy, report) == 0.5);
}

TEST_CASE("in bf16 q, k, v and o are two bytes a number, and gates, strengths and states are four",
          "[race]") {
  TimedBackend backend;
  RacePlan plan = small_plan(backend, {5}, {Form::recurrent});
  plan.variants = {"kda"};
  plan.precisions = {Precision::f32, Precision::bf16, Precision::tf32};
  const std::vector<RacePoint> points = race(plan).points;
  REQUIRE(points.size() == 3);
  // K 4 and V 3: q, k, v, o, a gate for every key channel and beta; S read and written; of 3 heads.
  CHECK(points[0].work.bytes == 3 * 5 * (4 * (4 + 4 + 3 + 3) + 4 * (4 + 1)));
  CHECK(points[1].work.bytes == 3 * 5 * (2 * (4 + 4 + 3 + 3) + 4 * (4 + 1)));
  CHECK(points[2].work.bytes == points[0].work.bytes);
  for (const RacePoint& point : points) CHECK(point.work.moved == 3 * 5 * 4 * (2 * 4 * 3));
}

TEST_CASE("whoever waits hears of every point, and sees the report so far", "[race]") {
  const TimedBackend backend;
  std::vector<Index> done;
  race(small_plan(backend), {}, [&](const RaceProgress& now) {
    done.push_back(now.done);
    CHECK(now.total == 4);
    CHECK(static_cast<Index>(now.report.points.size()) == now.done);
    CHECK(now.report.left == 4 - now.done);
    CHECK(now.last == now.report.points.back());
  });
  CHECK(done == std::vector<Index>{1, 2, 3, 4});
}

TEST_CASE("asked to stop, a race keeps what is measured; continued, it measures the rest alone", "[race]") {
  TimedBackend backend;
  std::stop_source source;
  backend.before_run = [&] {
    if (backend.runs == 6 + 3) source.request_stop();  // amid the second point
  };
  const RacePlan plan = small_plan(backend);
  const RaceReport begun = race(plan, {}, {}, source.get_token());
  REQUIRE(begun.points.size() == 1);
  CHECK(begun.left == 3);
  CHECK_FALSE(begun.complete());

  TimedBackend later;
  later.seconds = [](Index, Index) { return 7.0; };
  RacePlan same = plan;
  same.backends = {&later};
  std::vector<Index> done;
  const RaceReport report = race(same, begun, [&](const RaceProgress& now) { done.push_back(now.done); });
  CHECK(report.complete());
  REQUIRE(report.points.size() == 4);
  CHECK(report.points.front() == begun.points.front());
  CHECK(report.points.back().compute.median == 7);
  CHECK(later.runs == 3 * 6);
  CHECK(later.roofs == 0);  // that is known, too
  CHECK(done == std::vector<Index>{2, 3, 4});

  // Nothing is left to do, and a report with points beyond the plan is complete.
  same.lengths = {17};
  CHECK(race(same, report).points.size() == 4);
  CHECK(race(same, report).complete());
  CHECK(later.runs == 3 * 6);
}

TEST_CASE("stopped before it began, a race is empty", "[race]") {
  const TimedBackend backend;
  const RaceReport report = race(small_plan(backend), {}, {}, testing::stopped());
  CHECK(report.points.empty());
  CHECK(report.left == 4);
  CHECK(backend.runs == 0);
  CHECK(backend.roofs == 0);
}

TEST_CASE("what cannot run is a point that says why", "[race]") {
  TimedBackend backend;
  RacePlan plan = small_plan(backend, {5});
  const auto reason = [&] {
    const RaceReport report = race(plan);
    CHECK(report.complete());
    CHECK_FALSE(report.points.back().measured());
    CHECK(report.points.back().repeats == 0);
    return report.points.back().missing;
  };
  plan.variants = {"softmax"};
  plan.forms = {Form::two_pass};
  CHECK_THAT(reason(), says("no first pass can compute a memory"));
  plan.variants = {"linear"};
  plan.heads = {40000};
  plan.lengths = {8192};
  CHECK_THAT(reason(), says("q, k and v alone would take 14.4 GB; the limit is 6 GB"));
  plan = small_plan(backend, {5});
  backend.before_run = [] { throw Error("the device has no memory left"); };
  CHECK(reason() == "the device has no memory left");
}

TEST_CASE("a rule that needs as many value channels as key channels is not raced with others", "[race]") {
  const TimedBackend backend;
  Variant normed = find_variant("ttt_linear");
  for (Option& option : normed.options) {
    if (option.name == "layer_norm") option.values = {"true"};
  }
  RacePlan plan = small_plan(backend, {5}, {Form::chunkwise});  // K = 4, V = 3
  plan.variants = {"ttt_linear"};
  const RaceReport report = race(plan, {}, {}, {}, {&normed, 1});
  CHECK_THAT(report.points.at(0).missing, says("as many value channels as key channels, 6 or more"));
  plan.sizes = {{6, 6}};
  CHECK(race(plan, {}, {}, {}, {&normed, 1}).points.at(0).measured());
}

TEST_CASE("what would take too long by a shorter length is left out, and says so", "[race]") {
  TimedBackend backend;
  backend.seconds = [](Index, Index tokens) { return 0.1 * static_cast<double>(tokens); };
  RacePlan plan = small_plan(backend, {5, 10, 100, 200}, {Form::recurrent});
  plan.longest = 99;  // 1 s a token by the clock
  const RaceReport report = race(plan);
  REQUIRE(report.points.size() == 4);
  CHECK(report.points[1].measured());
  CHECK(report.points[2].missing ==
        "after 10 s for 10 tokens a run would take about 100 s; the limit is 99 s");
  CHECK_FALSE(report.points[3].measured());
}

TEST_CASE("a report goes on only on its own machine, by its own program", "[race]") {
  const RaceMachine here = {.processor = "Xeon",
                            .threads = 2,
                            .gpu = "H200",
                            .driver = "13.0",
                            .clocks = "1980 MHz",
                            .program = "p 1"};
  CHECK_NOTHROW(require_same_machine(here, here));
  RaceMachine slow = here;
  slow.clocks = "1200 MHz";
  CHECK_NOTHROW(require_same_machine(slow, here));
  const auto refused = [&](auto change, const char* message) {
    RaceMachine other = here;
    change(other);
    CHECK_THROWS_WITH(require_same_machine(other, here), says(message));
  };
  refused([](RaceMachine& m) { m.processor = "EPYC"; }, R"(another processor: "EPYC", here "Xeon")");
  refused([](RaceMachine& m) { m.threads = 4; }, R"(another number of threads: "4", here "2")");
  refused([](RaceMachine& m) { m.gpu = ""; }, R"(another GPU: none, here "H200")");
  refused([](RaceMachine& m) { m.driver = "12.4"; }, "another driver");
  refused([](RaceMachine& m) { m.program = "p 2"; }, "another program");
}

TEST_CASE("a random case may say how many hidden units there are, and only that", "[race]") {
  const auto shape = [](const char* id, const char* array, Index hidden) {
    const Variant& variant = find_variant(id);
    const Settings settings = random_settings(variant, {}, 1);
    return random_arrays(variant, settings, {.tokens = 5, .dk = 6, .dv = 7, .hidden = hidden})
        .at(array)
        .shape;
  };
  CHECK(shape("ttt_mlp", "W1", 24) == std::vector<Index>{6, 24});
  CHECK(shape("ttt_mlp", "W2", 24) == std::vector<Index>{24, 7});
  CHECK(shape("ttt_mlp", "W1", 3) == std::vector<Index>{6, 3});
  CHECK(shape("deltaproduct", "k", 24) == std::vector<Index>{5, 3, 6});  // three steps per token
}

TEST_CASE("every head of repeated arrays holds the numbers of the one, for every variant", "[race]") {
  for (const Variant& variant : variants()) {
    for (const bool log_gates : {false, true}) {
      INFO(variant.id);
      const Settings settings = random_settings(variant, {}, 3);
      const RandomCase random = fitted(
          variant, settings, {.tokens = 5, .dk = 4, .dv = 3, .initial_state = true, .log_gates = log_gates});
      const Arrays head = random_arrays(variant, settings, random);
      const Sequence one = bind(variant, std::make_shared<const Arrays>(head), settings).heads.front();
      for (const Precision precision : scalar_precisions) {
        const auto all =
            std::make_shared<const Arrays>(repeated_heads(variant, settings, head, 2, 3, precision));
        CHECK(all->size() == head.size());
        const SequenceBatch batch = bind(variant, all, settings);
        CHECK(batch.batch_count == 2);
        CHECK(batch.head_count == 3);
        for (const auto& [name, array] : *all) CHECK(array.is_f32() == (precision == Precision::f32));
        for (const Sequence& sequence : batch.heads) {
          for (const std::string& name : one.names_with_tokens()) {
            INFO(name);
            const Matrix<double> expected = one.at(name).all<double>();
            const Matrix<double> got = sequence.at(name).all<double>();
            REQUIRE(got.rows() == expected.rows());
            const double rounding = precision == Precision::f64 ? 0 : 1e-6;  // of f32, with derived sums
            // A logarithm of a gate may be -inf.
            CHECK((got.array() == expected.array() ||
                   (got - expected).array().abs() <= rounding * (1 + expected.array().abs()))
                      .all());
          }
        }
      }
    }
  }
}

TEST_CASE("the processor says what it does at most", "[race]") {
  for (const Precision precision : scalar_precisions) {
    const auto roof = cpu_backend().roof(precision);
    REQUIRE(roof);
    CHECK(roof->bytes_per_second > 0);
    CHECK(roof->flops_per_second > 0);
    CHECK_THAT(roof->copy, says("memcpy"));
    CHECK_THAT(roof->product, says("Eigen") && says(name(precision)));
  }
}

TEST_CASE("the processor measures a real run", "[race]") {
  const RaceReport report = race({.variants = {"gated_deltanet"},
                                  .lengths = {33},
                                  .heads = {2},
                                  .sizes = {{7, 5}},
                                  .chunk_sizes = {16},
                                  .repeats = 3,
                                  .roofs = false});
  CHECK(report.complete());
  CHECK(report.points.size() == 8);
  for (const RacePoint& point : report.points) {
    INFO(point.missing);
    CHECK(point.measured() != (point.entry.variant == "softmax" && point.entry.form == Form::two_pass));
    if (!point.measured()) continue;
    CHECK(point.compute.low > 0);
    CHECK(point.compute == point.whole);
    CHECK(point.work.flops > 0);
  }
  REQUIRE(report.timing.size() == 1);
  CHECK_THAT(report.timing.front().words, says("making the data is not timed"));
}
