#include "app/session/races.h"
#include "app/views/measure.h"
#include "tests/gui/tests.h"
#include "tests/paced_device.h"

// Measure: a person looks at what ships, races, cancels, opens a report and takes it away.

using namespace palimpsest;

namespace {

constexpr std::string_view leading_points = "measure/times/point/leads";
constexpr std::string_view other_points = "measure/times/point/others";
constexpr std::string_view unmeasured = "measure/times/mark/not measured yet";
constexpr std::string_view rings = "measure/times/mark/ring";

/// What the pointer is told about the chart.
std::string told() { return words_at("measure/times/told"); }

/// Lets reports be read, and what is found out about them be drawn.
void see_reports(ImGuiTestContext* context) {
  for (int i = 0; i < 3; ++i) settle_questions(context);
}

Session& enter_measure(ImGuiTestContext* context) {
  Session& session = start_in(context, ImGuiKey_6, 0, paced_device().beside_cpu());
  see_reports(context);
  return session;
}

/// The names of the reports in the list.
std::vector<std::string> reports() { return said_by("measure/side", "name"); }

/// What is raced in a moment, but for the last length, which takes long.
void wish_for_little(Session& session, Index last) {
  session.change([&](SessionState& state) {
    RaceWish& wish = state.measure.wish;
    wish.variants = {"linear"};
    wish.peer = false;
    wish.forms = {Form::recurrent, Form::chunkwise};
    wish.devices = {"cuda"};
    wish.lengths = {8, 16, last};
    wish.shape = {1, 8, 32, 32};
  });
}

RaceReport elsewhere() {
  RaceReport report;
  report.machine = {.processor = "Another One", .threads = 3, .program = "palimpsest"};
  report.starts = {{"2026-01-02 09:30 UTC", "palimpsest bench"}};
  for (const Index tokens : {8, 16}) {
    const double seconds = 1e-6 * static_cast<double>(tokens);
    report.points.push_back(
        {.entry = {.variant = "linear", .device = "cuda", .tokens = tokens, .heads = 8, .dk = 32, .dv = 32},
         .repeats = 3,
         .compute = {seconds, seconds, seconds},
         .whole = {seconds, seconds, seconds}});
  }
  return report;
}

PROGRAM_TEST("Measure shows the report that ships and the figures of a point") {
  Session& session = enter_measure(context);
  IM_CHECK_STR_EQ(program().workspace().id, "measure");
  IM_CHECK_GE(reports().size(), std::size_t{1});
  IM_CHECK_GE(places_below(leading_points).size(), std::size_t{6});
  IM_CHECK(!words_at("measure/headline").empty());
  IM_CHECK(!parts().below("measure/times/strip").empty());
  IM_CHECK(parts().find(unmeasured) == nullptr);                   // a report lacks nothing
  IM_CHECK_EQ(words_at("measure/controls/race"), "measure here");  // and is not gone on with
  IM_CHECK(!words_at("measure/question").ends_with("here?"));
  // A point under the pointer says its figures.
  context->MouseMoveToPos(places_below(leading_points)[2].middle());
  context->Yield(3);
  IM_CHECK(told().find("middle half") != std::string::npos);
  // So does a ring, of two curves that are not the same.
  IM_CHECK(!parts().below(rings).empty());
  context->MouseMoveToPos(places_below(rings).back().middle());
  context->Yield(3);
  const std::vector<NamedCrossing>& crossings = measured(program()).figures->crossings;
  IM_CHECK(std::ranges::any_of(crossings,
                               [](const NamedCrossing& each) { return told().starts_with(each.sentence); }));
  IM_CHECK_NE(crossings.back().crossing.faster, crossings.back().crossing.slower);
  click(context, "//Which is faster here?/**/per token");
  IM_CHECK(session.state().measure.per_token);
  IM_CHECK(!session.can_undo());  // how one looks is no change
}

PROGRAM_TEST("Measure races until it is cancelled, goes on and saves") {
  Session& session = enter_measure(context);
  wish_for_little(session, 1000);
  context->Yield(4);
  context->ItemClick("//Which is faster here?/**/###race");
  Races& races = program().races;
  IM_CHECK(races.runs());
  const auto points = [&] { return races.own() ? races.own()->points.size() : std::size_t{0}; };
  for (int i = 0; i < 2000 && points() < 2; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GE(points(), std::size_t{2});
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_1);  // it goes on while one looks at something else
  for (int i = 0; i < 2000 && points() < 4; ++i) context->SleepNoSkip(0.02F, 0.02F);
  IM_CHECK_GE(points(), std::size_t{4});
  context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_6);
  context->Yield(4);
  IM_CHECK(races.runs());
  click(context, "//Which is faster here?/**/###race");
  IM_CHECK(!races.runs());
  settle_questions(context);
  IM_CHECK_EQ(points(), std::size_t{4});
  IM_CHECK_EQ(places_below(leading_points).size(), std::size_t{4});
  IM_CHECK(parts().find(unmeasured) != nullptr);  // the rest is not measured yet
  IM_CHECK_EQ(races.left(session), 2);
  IM_CHECK_EQ(words_at("measure/controls/race"), "go on");
  // On with a shorter one: nothing is measured again, and the chart is full.
  wish_for_little(session, 24);
  context->Yield(2);
  context->ItemClick("//Which is faster here?/**/###race");
  for (int i = 0; i < 2000 && races.runs(); ++i) context->SleepNoSkip(0.02F, 0.02F);
  settle_questions(context);
  IM_CHECK_EQ(points(), std::size_t{6});
  IM_CHECK(parts().find(unmeasured) == nullptr);
  click(context, "//Which is faster here?/**/###save report");
  click(context, "//$FOCUSED/report as JSON…");
  IM_CHECK(program().show_save);
  IM_CHECK(parse_race(program().saving.text()) == *races.own());
  press(context, ImGuiKey_Escape);
}

PROGRAM_TEST("Measure overlays reports and refuses broken ones") {
  Session& session = enter_measure(context);
  const std::size_t shipped = reports().size();
  wish_for_little(session, 24);
  const OwnFolder folder;
  const std::string foreign = folder.file("palimpsest-race-foreign.json", "{\"benchmarks\": []}");
  program().drop({folder.file("palimpsest-race-elsewhere.json", race_json(elsewhere()))});
  see_reports(context);
  IM_CHECK_EQ(reports().size(), shipped + 1);
  IM_CHECK(reports().front().starts_with("Another One, 3 threads"));
  IM_CHECK_EQ(places_below(leading_points).size(), std::size_t{2});
  program().drop({foreign});
  see_reports(context);
  IM_CHECK(session.message().find("palimpsest-race-foreign.json") != std::string::npos);
  IM_CHECK(session.message().find("expected") != std::string::npos);
  IM_CHECK_EQ(reports().size(), shipped + 1);
  // What is measured here leads; the other report is beside it, thin.
  session.clear_message();
  context->ItemClick("//Which is faster here?/**/###race");
  program().drop({foreign});  // a broken one beside what is measured: nothing is lost
  for (int i = 0; i < 2000 && program().races.runs(); ++i) context->SleepNoSkip(0.02F, 0.02F);
  see_reports(context);
  IM_CHECK(session.message().find("palimpsest-race-foreign.json") != std::string::npos);
  IM_CHECK_EQ(places_below(leading_points).size(), std::size_t{6});
  IM_CHECK_EQ(std::ssize(parts().below(other_points)), 2);
  session.clear_message();
  program().races.take_away(session, SeenReport(program().races.seen()[1]));
  see_reports(context);
  IM_CHECK_EQ(std::ssize(parts().below(other_points)), 0);
  IM_CHECK_EQ(reports().size(), shipped + 1);
  press(context, ImGuiMod_Ctrl | ImGuiKey_Z);
  see_reports(context);
  IM_CHECK_EQ(std::ssize(parts().below(other_points)), 2);  // to take a report away can be undone
}

}  // namespace
