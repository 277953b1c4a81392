// Measure's reports: those that ship, those that are opened, and the race that goes on in another thread.
// A report of a race goes into a file and comes back; a broken one is told where it is broken.

#include "app/session/races.h"

#include <chrono>
#include <thread>

#include "app/session/devices.h"
#include "app/session/json_fields.h"
#include "app/session/state.h"
#include "core/base/error.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/paced_device.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

RaceReport report_of(const std::string& processor, double seconds = 0.5) {
  return {.machine = {.processor = processor, .threads = 2, .program = "palimpsest"},
          .starts = {{"2026-11-22 09:30 UTC", "palimpsest bench"}},
          .points = {{.entry = {.variant = "gated_deltanet", .tokens = 64, .heads = 4},
                      .repeats = 3,
                      .compute = {seconds, seconds, seconds},
                      .whole = {seconds, seconds, seconds}}}};
}

/// As a frame of the window that shows Measure.
void frame(Races& races, Session& session) {
  session.update();
  races.keep_racing(session);
  races.look(session);
}

/// Until everything that is asked for is there.
void settle(Races& races, Session& session) {
  for (int i = 0; i < 3; ++i) {
    frame(races, session);
    session.questions().wait();
  }
  frame(races, session);
}

std::vector<std::string> ids(const Races& races) { return texts_of(races.seen(), &SeenReport::id); }

/// What takes a moment: one rule, one form, two lengths.
SessionState small_wish(SessionState state) {
  state.measure.wish = {.variants = {"linear"},
                        .peer = false,
                        .forms = {Form::recurrent},
                        .devices = {"cuda"},
                        .lengths = {3, 5},
                        .shape = {1, 1, 4, 4},
                        .chunk_size = 2};
  return state;
}

/// A session in which races take a moment for the first lengths of these; 1000 tokens do not end.
struct Racing {
  Session session{paced_device().beside_cpu()};
  Races races{""};

  explicit Racing(const std::vector<Index>& lengths) {
    settle(races, session);  // devices are known
    session.change(small_wish(session.state()));
    wish(lengths);
  }

  void wish(const std::vector<Index>& lengths) {
    session.change([&](SessionState& state) { state.measure.wish.lengths = lengths; });
  }
};

}  // namespace

TEST_CASE("reports that ship are there, each named by machine and date, and can be put away", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "b.json", race_json(report_of("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz")));
  write_file(folder / "a.json", race_json(report_of("AMD EPYC")));
  write_file(folder / "notes.txt", "no report");
  Opened session("preset:copy?T=12&K=3&V=2&seed=1");
  Races races(folder.path());
  settle(races, session);
  REQUIRE(ids(races) == std::vector<std::string>{"a.json", "b.json"});
  CHECK(races.seen()[0].name == "AMD EPYC, 2 threads, 2026-11-22");
  CHECK(races.seen()[1].name == "Intel Xeon Gold 6130, 2 threads, 2026-11-22");
  races.take_away(session, SeenReport(races.seen()[0]));
  settle(races, session);
  CHECK(ids(races) == std::vector<std::string>{"b.json"});
  session.undo();
  settle(races, session);
  CHECK(ids(races).size() == 2);
  CHECK(session.message().empty());
}

TEST_CASE("a report with a GPU is named by it", "[races]") {
  RaceReport report = report_of("AMD EPYC");
  report.machine.gpu = "NVIDIA H200";
  CHECK(machine_and_date(report) == "AMD EPYC, 2 threads, 2026-11-22");  // it was not used
  report.points.front().entry.device = "cuda";
  CHECK(machine_and_date(report) == "NVIDIA H200, 2026-11-22");
}

TEST_CASE("reports that ship with the program can all be read", "[races]") {
  Session session;
  Races races;
  settle(races, session);
  CHECK(session.message().empty());
  REQUIRE(races.seen().size() > 1);
  // one leads that has what is looked at first, whatever its place among the files
  CHECK(races.seen()[races.leading(session)].name == "AMD EPYC, 2 threads, 2026-11-29");
}

TEST_CASE("a report with the content of another is listed once, in front", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "one.json", race_json(report_of("one")));
  write_file(folder / "two.json", race_json(report_of("two")));
  write_file(folder / "again.json", race_json(report_of("one")));
  const TemporaryFolder opened;
  write_file(opened / "mine.json", race_json(report_of("two")));
  Session session;
  Races races(folder.path());
  settle(races, session);
  CHECK(races.seen().size() == 2);
  races.open(session, opened / "mine.json");
  settle(races, session);
  REQUIRE(races.seen().size() == 2);
  CHECK(races.seen()[races.leading(session)].id == (opened / "mine.json"));
  session.change([&](SessionState& state) { state.measure.leading = races.seen()[1].id; });
  races.open(session, opened / "mine.json");  // it is there: to the front
  settle(races, session);
  CHECK(races.seen()[races.leading(session)].id == (opened / "mine.json"));
}

TEST_CASE("a report with no times of the open rule but those of softmax does not lead", "[races]") {
  const TemporaryFolder folder;
  RaceReport peer = report_of("one");
  for (RacePoint& point : peer.points) point.entry.variant = race_peer;
  write_file(folder / "peer.json", race_json(peer));
  write_file(folder / "rule.json", race_json(report_of("two")));
  Session session;
  Races races("");
  races.open(session, folder / "peer.json");
  settle(races, session);
  CHECK(races.leading(session) == races.seen().size());
  races.open(session, folder / "rule.json");
  settle(races, session);
  CHECK(races.seen()[races.leading(session)].id == (folder / "rule.json"));
  session.change([&](SessionState& state) { state.measure.leading = folder / "peer.json"; });
  CHECK(races.seen()[races.leading(session)].id == (folder / "rule.json"));
  session.choose([](Choice& choice) { choice.variant = race_peer; });
  CHECK(races.seen()[races.leading(session)].id == (folder / "peer.json"));
}

TEST_CASE("files are opened beside each other and taken away again", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "one.json", race_json(report_of("one")));
  write_file(folder / "two.json", race_json(report_of("two")));
  Session session;
  Races races("");
  races.open(session, folder / "one.json");
  races.open(session, folder / "two.json");
  races.open(session, folder / "one.json");  // is there already
  CHECK(session.state().workspace == "measure");
  settle(races, session);
  REQUIRE(races.seen().size() == 2);
  CHECK(*races.seen()[0].report == report_of("one"));
  CHECK(races.leading(session) == 0);
  session.change([&](SessionState& state) { state.measure.leading = races.seen()[1].id; });
  CHECK(races.leading(session) == 1);
  races.take_away(session, SeenReport(races.seen()[1]));
  settle(races, session);
  REQUIRE(races.seen().size() == 1);
  CHECK(races.seen()[0].name == "one, 2 threads, 2026-11-22");
  CHECK(races.leading(session) == 0);
  CHECK(session.message().empty());
  write_file(folder / "one.json", race_json(report_of("three")));  // opened again, it is read again
  races.open(session, folder / "one.json");
  settle(races, session);
  CHECK(races.seen()[0].report->machine.processor == "three");
}

TEST_CASE("a broken report is named with what was expected, and nothing that is open is lost", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "good.json", race_json(report_of("good")));
  Json broken = Json::parse(race_json(report_of("broken")));
  broken["points"][0].erase("compute_s");
  write_file(folder / "broken.json", broken.dump());
  write_file(folder / "foreign.json", R"({"benchmarks": [], "context": {}})");
  write_file(folder / "cut.json", race_json(report_of("cut")).substr(0, 200));
  Session session;
  Races races("");
  races.open(session, folder / "good.json");
  settle(races, session);
  for (const auto& [file, problem] : {std::pair("broken.json", "point 1: \"compute_s\" is missing"),
                                      {"foreign.json", "it is not a report of `palimpsest bench`"},
                                      {"cut.json", "JSON"},
                                      {"none.json", "none.json"}}) {
    session.clear_message();
    races.open(session, folder / file);
    settle(races, session);
    CHECK_THAT(session.message(), says(file) && says(problem) &&
                                      says("A report that `palimpsest bench --json` wrote was expected"));
    REQUIRE(races.seen().size() == 1);
    CHECK(races.seen()[0].report->machine.processor == "good");
    CHECK(session.state().measure.reports.size() == 1);
  }
}

TEST_CASE("one that ships and is broken is told once, and the others are there", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "a.json", "{");
  write_file(folder / "b.json", race_json(report_of("b")));
  Session session;
  Races races(folder.path());
  settle(races, session);
  CHECK_THAT(session.message(), says("a.json"));
  CHECK(ids(races) == std::vector<std::string>{"b.json"});
  session.clear_message();
  settle(races, session);
  CHECK(session.message().empty());
}

TEST_CASE("a race goes on in another thread, and what it measured is a report of this machine", "[races]") {
  Racing racing({3, 5});
  auto& [session, races] = racing;
  CHECK(races.left(session) == 2);
  CHECK_FALSE(races.own());
  races.program = "palimpsest in a test";
  races.start(session);
  CHECK(races.runs());
  settle(races, session);
  CHECK_FALSE(races.runs());
  CHECK(races.left(session) == 0);
  REQUIRE(races.own());
  const RaceReport& report = *races.own();
  CHECK(report.complete());
  REQUIRE(report.points.size() == 2);
  CHECK(report.points[0].entry.tokens == 3);
  CHECK(report.points[1].entry.tokens == 5);
  CHECK(report.points[1].measured());
  CHECK(report.machine.program == "palimpsest in a test");
  CHECK(report.machine.threads > 0);
  REQUIRE(report.starts.size() == 1);
  CHECK(report.starts[0].command == "window");
  CHECK(report.roofs.size() == 1);
  CHECK(parse_race(race_json(report)) == report);  // and can be saved
  REQUIRE(ids(races) == std::vector<std::string>{"race"});
  // More lengths: what is there is not measured again.
  racing.wish({3, 5, 9});
  CHECK(races.left(session) == 1);
  const Quartiles before = report.points[0].compute;
  races.start(session);
  settle(races, session);
  REQUIRE(races.own()->points.size() == 3);
  CHECK(races.own()->points[0].compute == before);
  CHECK(races.own()->starts.size() == 2);
  races.take_away(session, SeenReport(races.seen()[0]));
  CHECK_FALSE(races.own());
}

TEST_CASE("a cancelled race keeps what it measured and goes on from there", "[races]") {
  Racing racing({4, 1000});
  auto& [session, races] = racing;
  races.start(session);
  while (races.own()->points.empty()) frame(races, session);
  CHECK(races.runs());
  CHECK(races.under_way() != "");
  races.cancel(session);
  CHECK_FALSE(races.runs());
  settle(races, session);
  CHECK(session.message().empty());
  REQUIRE(races.own()->points.size() == 1);
  CHECK(races.own()->points[0].entry.tokens == 4);
  CHECK(races.own()->left == 1);
  CHECK(races.left(session) == 1);
  // On with a shorter one.
  racing.wish({4, 8});
  races.start(session);
  settle(races, session);
  CHECK(races.own()->points.size() == 2);
}

TEST_CASE("a report is read while a race goes on", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "one.json", race_json(report_of("one")));
  Racing racing({1000});
  auto& [session, races] = racing;
  races.start(session);
  frame(races, session);
  races.open(session, folder / "one.json");
  frame(races, session);
  CHECK(races.reads());
  for (int frames = 0; frames < 2000 && races.reads(); ++frames) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    frame(races, session);
  }
  CHECK_FALSE(races.reads());
  CHECK(races.runs());
  CHECK(ids(races).size() == 2);
  races.cancel(session);
}

TEST_CASE("nobody waits for a race, and one that nobody asks for ends", "[races]") {
  Racing racing({1000});
  auto& [session, races] = racing;
  races.start(session);
  frame(races, session);
  CHECK_FALSE(session.questions().busy());  // no frame is drawn for its sake
  session.update();                         // frames without it
  session.update();
  session.questions().wait();  // so it was cancelled
  frame(races, session);
  races.cancel(session);
  CHECK(races.own()->points.empty());
}

TEST_CASE("what cannot be raced says why", "[races]") {
  Session session;
  Races races("");
  session.change(small_wish(session.state()));
  // Before its driver has answered, a GPU cannot be used either.
  CHECK_THROWS_WITH(races.start(session), says("no chosen device can be used"));
  CHECK(races.left(session) == 0);
}

TEST_CASE("what a report has is shown where it has none of the curves that are looked at", "[races]") {
  RaceReport report = report_of("x");
  report.points.front().entry.variant = "kda";
  report.points.front().entry.precision = Precision::f64;
  report.points.front().entry.heads = 16;
  SessionState state;
  show_what_it_has(state, report);
  CHECK(wished_curves(state).takes(report.points.front().entry));
  const SessionState before = state;
  show_what_it_has(state, report);
  CHECK(state == before);
  SessionState other;
  show_what_it_has(other, {});
  CHECK(other == SessionState());
  // of several shapes the one with the most points, not the first
  for (const Index tokens : {Index{8}, Index{16}}) {
    report.points.push_back(report.points.front());
    report.points.back().entry.heads = 2;
    report.points.back().entry.tokens = tokens;
  }
  show_what_it_has(other, report);
  CHECK(other.measure.wish.shape.heads == 2);
}

TEST_CASE("what a report has can be kept, however large it is", "[races]") {
  RaceReport report = report_of("x");
  RaceEntry& entry = report.points.front().entry;
  entry.tokens = most_raced_tokens;
  entry.batches = entry.heads = most_raced_heads;
  entry.dk = entry.dv = most_raced_channels;
  CHECK(parse_race(race_json(report)) == report);
  SessionState state{.data = "preset:copy"};
  show_what_it_has(state, report);
  CHECK(state.measure.wish.shape == shape_of(entry));
  state.measure.wish.lengths = {most_raced_tokens};
  CHECK(parse_state(write_state(state)) == state);
}

TEST_CASE("presets choose rules and forms and leave lengths and sizes", "[races]") {
  RaceWish before = small_wish({}).measure.wish;
  for (const RacePreset& preset : race_presets()) {
    CAPTURE(preset.id);
    const RaceWish wish = preset.wish(before);
    CHECK(wish.lengths == before.lengths);
    CHECK(wish.shape == before.shape);
    CHECK(preset.wish(wish) == wish);
    for (const std::string& id : wish.variants) CHECK_NOTHROW(find_variant(id));
  }
  SessionState state;
  CHECK(wished_variants(state) == std::vector<std::string>{"gated_deltanet", "softmax"});
  state.sides.front().variant = "softmax";
  CHECK(wished_variants(state) == std::vector<std::string>{"softmax"});
}

namespace {

/// Everything that a report can hold, with numbers that no shorter decimal is.
RaceReport full_report() {
  const RaceEntry entry = {.variant = "gated_deltanet",
                           .form = Form::chunkwise,
                           .device = "cpu",
                           .precision = Precision::f32,
                           .tokens = 1000,
                           .batches = 2,
                           .heads = 3,
                           .dk = 12,
                           .dv = 7,
                           .chunk_size = 16};
  RaceEntry parallel = entry;
  parallel.form = Form::parallel;
  parallel.chunk_size = 0;
  RaceEntry in_bf16 = entry;
  in_bf16.precision = Precision::bf16;
  return {.machine = {.processor = "Xeon \"Gold\", 2.3 GHz",
                      .threads = 2,
                      .gpu = "NVIDIA H200",
                      .driver = "13.0",
                      .clocks = "at most 1980 MHz",
                      .program = "palimpsest 0.1.0 (8b2397777cd2)"},
          .starts = {{"2026-11-22 09:30 UTC", "palimpsest bench"},
                     {"2026-11-22 10:30 UTC", "palimpsest bench --continue a.json"}},
          .data = "random numbers",
          .timing = {{"cpu", "everything"}, {"cuda", "kernels"}},
          .roofs = {{"cpu", Precision::f32, {1.0 / 3 * 1e11, 2.0 / 3 * 1e12, "memcpy", "Eigen"}},
                    {"cuda", Precision::bf16, {4.3e12, 6.6e14, "cudaMemcpy", "tensor cores"}},
                    {"cuda", Precision::f64, {4.3e12, 5.1e13, "cudaMemcpy", "registers"}}},
          .points = {{.entry = entry,
                      .repeats = 11,
                      .warmed = true,
                      .compute = {0.1, 1.0 / 3, 0.7},
                      .transfers = {0.01, 0.02, 0.03},
                      .allocations = {1e-6, 2e-6, 3e-6},
                      .whole = {0.2, 0.4, 0.8},
                      .work = {1e9, 9e8, 1e6, 2e7, 3e7},
                      .kernel = KernelKind::registers},
                     {.entry = parallel, .missing = "no such form, \"really\""},
                     {.entry = in_bf16, .missing = "the device has no bf16"}},
          .left = 4};
}

/// What parsing the report says after `change` was made to its JSON; empty if it is read.
template <class Change>
std::string problem(Change change) {
  Json json = Json::parse(race_json(full_report()));
  change(json);
  return input_error([&] { parse_race(json.dump()); });
}

}  // namespace

TEST_CASE("a report comes back from its file as it was", "[race]") {
  const TemporaryFolder folder;
  for (const RaceReport& report : {full_report(), RaceReport{.machine = {.processor = "x", .threads = 1}}}) {
    const std::string text = race_json(report);
    CHECK(parse_race(text) == report);
    CHECK(saved_kind(text) == SavedKind::race);
    write_file(folder / "race.json", text);
    CHECK(read_race(folder / "race.json") == report);
  }
  CHECK(saved_kind("{}") == SavedKind::other);
  CHECK(saved_kind("[1") == SavedKind::other);
}

TEST_CASE("a report tells other readers what follows from it", "[race]") {
  const Json json = Json::parse(race_json(full_report()));
  CHECK(json.at("palimpsest_race") == 1);
  CHECK(json.at("complete") == false);
  CHECK(json.at("points")[0].at("roof_fraction") == roof_fraction(full_report().points[0], full_report()));
  CHECK(json.at("points")[0].at("roof_fraction").get<double>() > 0);
  CHECK_FALSE(json.at("points")[1].contains("compute_s"));
  CHECK(json.at("crossovers") == Json::array());
}

TEST_CASE("a file that is no report says what it seems to be, and is named", "[race]") {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& text) {
    write_file(folder / "other.json", text);
    return input_error([&] { read_race(folder / "other.json"); });
  };
  CHECK_THAT(told("{\"a\": 1"), says("other.json: it is not valid JSON"));
  CHECK_THAT(told("[1, 2]"),
             says("it is not a report of `palimpsest bench` but seems to be a list of 2 entries"));
  CHECK_THAT(told(R"({"palimpsest_places": 1, "places": []})"), says("pinned places of Palimpsest"));
  CHECK_THROWS_WITH(read_race(folder / "none.json"), says("no such file"));
}

TEST_CASE("a broken report is told by entry, field and what is expected", "[race]") {
  CHECK(problem([](Json&) {}).empty());
  struct Broken {
    const char* message;
    std::function<void(Json&)> change;
  };
  const auto point = [](Json& json) -> Json& { return json["points"][0]; };
  const Broken all[] = {
      {"\"palimpsest_race\" is 2; this program reads version 1", [](Json& j) { j["palimpsest_race"] = 2; }},
      {"\"points\" is missing", [](Json& j) { j.erase("points"); }},
      {"\"points\" is object; expected a list", [](Json& j) { j["points"] = Json::object(); }},
      {"\"left\" is -1; expected a whole number from 0", [](Json& j) { j["left"] = -1; }},
      {"\"machine\": \"threads\" is missing", [](Json& j) { j["machine"].erase("threads"); }},
      {"\"machine\": \"threads\" is string; expected a whole number",
       [](Json& j) { j["machine"]["threads"] = "2"; }},
      {"start 2: \"date\" is missing", [](Json& j) { j["starts"][1].erase("date"); }},
      {"timing 1: \"words\" is missing", [](Json& j) { j["timing"][0].erase("words"); }},
      {"roof 1: \"bytes_per_second\" is -1; expected 0 or a number from 1e-30 to 1e+30",
       [](Json& j) { j["roofs"][0]["bytes_per_second"] = -1; }},
      {"point 1: \"work\": \"needed_flops\" is 1e+300; expected 0 or a number from 1e-30 to 1e+30",
       [&](Json& j) { point(j)["work"]["needed_flops"] = 1e300; }},
      {"point 1: \"compute_s\": \"low\" is 1e-300; expected 0 or a number from 1e-09 to 1000000000",
       [&](Json& j) { point(j)["compute_s"]["low"] = 1e-300; }},
      {"point 1: \"whole_s\": \"high\" is 10000000000; expected 0 or a number from 1e-09 to 1000000000",
       [&](Json& j) { point(j)["whole_s"]["high"] = 1e10; }},
      {"point 1: \"variant\" is missing", [&](Json& j) { point(j).erase("variant"); }},
      {"point 1: \"form\" is \"fast\"; expected one of: recurrent",
       [&](Json& j) { point(j)["form"] = "fast"; }},
      {"point 1: \"precision\" is \"f8\"; expected one of: f64, f32",
       [&](Json& j) { point(j)["precision"] = "f8"; }},
      {"point 1: \"tokens\" is 0; expected a whole number from 1 to 16777216",
       [&](Json& j) { point(j)["tokens"] = 0; }},
      {"expected a whole number from 1 to 16777216", [&](Json& j) { point(j)["tokens"] = 1 << 25; }},
      {"point 1: \"heads\" is 65536; expected a whole number from 1 to 65535",
       [&](Json& j) { point(j)["heads"] = 65536; }},
      {"point 1: \"dv\" is 8193; expected a whole number from 1 to 8192",
       [&](Json& j) { point(j)["dv"] = 8193; }},
      {"point 1: \"chunk\" is 0; expected a whole number from 1", [&](Json& j) { point(j)["chunk"] = 0; }},
      {"point 2: \"chunk\" is 16; expected a whole number from 0 to 0",
       [](Json& j) { j["points"][1]["chunk"] = 16; }},
      {"point 1: \"kernel\" is \"magic\"; expected one of: plain kernel, vector instructions, in registers, "
       "tensor cores",
       [&](Json& j) { point(j)["kernel"] = "magic"; }},
      {"point 2: \"missing\" is empty", [](Json& j) { j["points"][1]["missing"] = ""; }},
      {"point 1: \"compute_s\" is missing", [&](Json& j) { point(j).erase("compute_s"); }},
      {"point 1: \"compute_s\" is number; expected an object", [&](Json& j) { point(j)["compute_s"] = 1; }},
      {"point 1: \"compute_s\": \"median\" is missing",
       [&](Json& j) { point(j)["compute_s"].erase("median"); }},
      {"point 1: \"whole_s\": low 9, median 0.4 and high 0.8 are not in ascending order",
       [&](Json& j) { point(j)["whole_s"]["low"] = 9; }},
      {"point 1: \"work\": \"flops\" is null; expected a number",
       [&](Json& j) { point(j)["work"]["flops"] = nullptr; }},
      {"point 1: \"repeats\" is 0; expected a whole number from 1",
       [&](Json& j) { point(j)["repeats"] = 0; }},
      {"point 4 is given twice", [&](Json& j) { j["points"].push_back(point(j)); }},
      {"point 1 is number; expected an object", [](Json& j) { j["points"][0] = 3; }},
  };
  for (const Broken& broken : all) {
    INFO(broken.message);
    CHECK_THAT(problem(broken.change), says(broken.message));
  }
}

TEST_CASE("a report has as many points as can be drawn", "[race]") {
  Json json = Json::parse(race_json(full_report()));
  const Json missing = json["points"][1];
  json["points"] = Json::array();
  for (int i = 1; i <= 100'001; ++i) {
    json["points"].push_back(missing);
    json["points"].back()["tokens"] = i;
  }
  CHECK_THROWS_WITH(parse_race(json.dump()), says("a report has at most 100000 points"));
  json["points"].erase(0);
  CHECK(parse_race(json.dump()).points.size() == 100'000);
}

TEST_CASE("points become lines of CSV with as many fields as names", "[race]") {
  const std::string csv = race_csv(full_report());
  CHECK_THAT(csv, says("gated_deltanet,chunkwise,cpu,f32,1000,2,3,12,7,16,11,0.1,0.3333333333333333,0.7,"));
  CHECK_THAT(csv, says(",\"no such form, \"\"really\"\"\"\n"));
  const auto fields = [](std::string_view line) {
    bool quoted = false;
    std::ptrdiff_t commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    return commas + 1;
  };
  std::istringstream lines(csv);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(fields(line) == 26);
  CHECK(count == 4);
}

TEST_CASE("this machine has a processor, threads and a date", "[race]") {
  const RaceMachine machine = this_machine("a program");
  CHECK_FALSE(machine.processor.empty());
  CHECK(machine.threads > 0);
  CHECK(machine.program == "a program");
  CHECK(machine.gpu.empty() == machine.driver.empty());
  CHECK_THAT(present_date(), says(" UTC") && says("20"));
}
