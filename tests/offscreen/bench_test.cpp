#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/studio/workspaces.h"
#include "app/window/ui_bench.h"
#include "app/window/window_commands.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Ran bench(const std::vector<std::string>& arguments) {
  return palimpsest_with(joined({"bench"}, arguments), window_commands());
}

}  // namespace

TEST_CASE("the spread of durations is read off them in their order", "[bench]") {
  std::vector<double> durations;
  for (int i = 200; i >= 1; --i) durations.push_back(i);
  const Spread found = spread(durations);
  CHECK(found.median == 100);
  CHECK(found.high == 198);
  CHECK(found.worst == 200);
  CHECK(spread({7}).median == 7);
  CHECK(spread({7}).worst == 7);
  CHECK(spread({}).worst == 0);
}

TEST_CASE("bench ui measures what a person does, in every form that it walks through", "[bench]") {
  const TemporaryFolder folder;
  const std::string file = folder / "times.json";
  const Ran ran = bench(
      {"ui", "--tokens", "20", "--channels", "5", "--frames", "3", "--size", "960x600", "--json", file});
  INFO(ran.error);
  REQUIRE(ran.status == exit_done);
  const auto json = nlohmann::json::parse(read_file(file));
  CHECK(json.at("tokens") == 20);
  CHECK(json.at("size") == nlohmann::json::parse("[960, 600]"));
  std::vector<std::string> measured_workspaces;
  for (const auto& measured : json.at("workspaces")) {
    measured_workspaces.push_back(measured.at("workspace"));
    std::set<std::string> forms;
    std::set<std::string> actions;
    for (const auto& frames : measured.at("frames")) {
      CAPTURE(frames.dump());
      forms.insert(frames.at("form"));
      actions.insert(frames.at("what"));
      CHECK(frames.at("frames") >= 3);
      const auto& cpu = frames.at("cpu_ms");
      CHECK(cpu.at("median") > 0);
      CHECK(cpu.at("worst") >= cpu.at("99th"));
      CHECK(cpu.at("99th") >= cpu.at("median"));
      CHECK(frames.at("opengl_ms") > 0);
      CHECK(frames.at("complete") == true);  // so little is soon computed
      CHECK_THAT(ran.out, says(frames.at("what")));
    }
    CHECK(forms == std::set<std::string>{"recurrent", "chunkwise"});
    CHECK(actions.size() == (measured_workspaces.back() == "measure" ? 10 : 9));  // its curves are pointed at
    CHECK(measured.at("opening").at("clock_ms").at("worst") > 0);
    CHECK(measured.at("slider").at("clock_ms").at("median") > 0);
    CHECK(measured.at("slider").at("cpu_ms").at("median") > 0);
    CHECK_THAT(ran.out, says("workspace " + measured_workspaces.back()));
  }
  std::vector<std::string> all;
  for (const Workspace& workspace : workspaces()) all.emplace_back(workspace.id);
  CHECK(measured_workspaces == all);
  CHECK_THAT(ran.out, says("T = 20, d = 5") && says(json.at("processor")) && says(json.at("date")));
}

TEST_CASE("bench ui waits no longer than it is told to, and says so", "[bench]") {
  const UiTimes times = measure_ui({.width = 320,
                                    .height = 200,
                                    .tokens = 2000,
                                    .channels = 32,
                                    .dragged_tokens = 20,
                                    .dragged_channels = 5,
                                    .frames = 1,
                                    .patience = 0,
                                    .workspace = "verify"});
  CHECK_FALSE(times.opening.complete.has_value());
  REQUIRE(times.frames.size() == 17);
  // Its other forms and precisions take seconds here.
  CHECK(times.frames.front().complete == false);
}

TEST_CASE("bench ui points at the curves of Measure, of one report over another", "[bench]") {
  const UiTimes times = measure_ui({.width = 1280,
                                    .height = 800,
                                    .tokens = 20,
                                    .channels = 5,
                                    .dragged_tokens = 20,
                                    .dragged_channels = 5,
                                    .frames = 1,
                                    .workspace = "measure"});
  CHECK(std::ranges::count(times.frames, "pointing at curves", &FramesOf::what) == 2);
}

TEST_CASE("bench refuses what it cannot measure", "[bench]") {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"ui", "--tokens", "2"}, "--tokens"},
           {{"ui", "--tokens", "1000001"}, "--tokens"},
           {{"ui", "--channels", "0"}, "--channels"},
           {{"ui", "--frames", "0"}, "--frames"},
           {{"ui", "--patience", "-1"}, "--patience"},
           {{"ui", "--workspace", "rest"}, "--workspace is \"rest\""},
           {{"ui", "--size", "15x400"}, "--size is \"15x400\""},
           {{"ui", "--json", "/dev/full"}, "is not a regular file"}}) {
    const Ran ran = bench(arguments);
    INFO(ran.error);
    CHECK(ran.status == exit_bad_usage);
    CHECK(is_one_line(ran.error));
    CHECK_THAT(ran.error, says(message));
  }
}
