// Measure's reports: those that ship, those that are opened, and the race that goes on in another thread.

#include "app/session/races.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/session/race_file.h"
#include "app/session/state_text.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"
#include "tests/paced_device.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

RaceReport report_of(const std::string& processor, double seconds = 0.5) {
  RaceReport report;
  report.machine = {.processor = processor, .threads = 2, .program = "palimpsest"};
  report.starts = {{"2026-11-22 09:30 UTC", "palimpsest bench"}};
  report.points.push_back({.entry = {.variant = "gated_deltanet", .tokens = 64, .heads = 4},
                           .repeats = 3,
                           .compute = {seconds, seconds, seconds},
                           .whole = {seconds, seconds, seconds}});
  return report;
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
    session.answers().wait();
  }
  frame(races, session);
}

std::vector<std::string> ids(const Races& races) {
  std::vector<std::string> all;
  for (const SeenReport& each : races.seen()) all.push_back(each.id);
  return all;
}

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

}  // namespace

TEST_CASE("reports that ship are there, each named by machine and date, and can be put away", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "b.json", race_json(report_of("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz")));
  write_file(folder / "a.json", race_json(report_of("AMD EPYC")));
  write_file(folder / "notes.txt", "no report");
  Session session;
  session.open_named("preset:copy?T=12&K=3&V=2&seed=1");
  session.wait();
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
  CHECK(races.seen()[races.leading(session)].name == "AMD EPYC, 2 threads, 2026-11-23");
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
  SessionState chosen = session.state();
  chosen.measure.leading = races.seen()[1].id;
  session.change(chosen);
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
  nlohmann::json broken = nlohmann::json::parse(race_json(report_of("broken")));
  broken["points"][0].erase("compute_s");
  write_file(folder / "broken.json", broken.dump());
  write_file(folder / "foreign.json", R"({"benchmarks": [], "context": {}})");
  write_file(folder / "cut.json", race_json(report_of("cut")).substr(0, 200));
  Session session;
  Races races("");
  races.open(session, folder / "good.json");
  settle(races, session);
  struct Broken {
    const char* file;
    const char* problem;
  };
  for (const auto& [file, problem] : {Broken{"broken.json", "point 1: \"compute_s\" is missing"},
                                      Broken{"foreign.json", "it is no report of `palimpsest bench`"},
                                      Broken{"cut.json", "JSON"}, Broken{"none.json", "none.json"}}) {
    CAPTURE(file);
    session.clear_message();
    races.open(session, folder / file);
    settle(races, session);
    CHECK_THAT(session.message(), says(file));
    CHECK_THAT(session.message(), says(problem));
    CHECK_THAT(session.message(), says("A report that `palimpsest bench --json` wrote was expected"));
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
  Session session(paced_device().beside_cpu());
  Races races("");
  settle(races, session);  // devices are known
  session.change(small_wish(session.state()));
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
  SessionState more = session.state();
  more.measure.wish.lengths = {3, 5, 9};
  session.change(more);
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
  Session session(paced_device().beside_cpu());
  Races races("");
  settle(races, session);  // devices are known
  SessionState state = small_wish(session.state());
  state.measure.wish.lengths = {4, 1000};  // the second does not end
  session.change(state);
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
  SessionState shorter = session.state();
  shorter.measure.wish.lengths = {4, 8};
  session.change(shorter);
  races.start(session);
  settle(races, session);
  CHECK(races.own()->points.size() == 2);
}

TEST_CASE("a report is read while a race goes on", "[races]") {
  const TemporaryFolder folder;
  write_file(folder / "one.json", race_json(report_of("one")));
  Session session(paced_device().beside_cpu());
  Races races("");
  settle(races, session);  // devices are known
  SessionState state = small_wish(session.state());
  state.measure.wish.lengths = {1000};  // does not end
  session.change(state);
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
  Session session(paced_device().beside_cpu());
  Races races("");
  SessionState state = small_wish(session.state());
  state.measure.wish.lengths = {1000};  // does not end
  session.change(state);
  settle(races, session);  // devices are known
  races.start(session);
  frame(races, session);
  CHECK_FALSE(session.answers().busy());  // no frame is drawn for its sake
  session.update();                       // frames without it
  session.update();
  session.answers().wait();  // so it was cancelled
  frame(races, session);
  races.cancel(session);
  CHECK(races.own()->points.empty());
}

TEST_CASE("what cannot be raced says why", "[races]") {
  Session session;
  Races races("");
  SessionState state = small_wish(session.state());
  state.measure.wish.devices = {"cuda"};
  session.change(state);
  // Before its driver has answered, a GPU cannot be used either.
  CHECK_THROWS_WITH(races.start(session), says("no device that is wished for can be used"));
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
  SessionState state;
  state.data = "preset:copy";
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
