// The commands that draw: render and bench ui.

#include "app/window/window_commands.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/session/paths.h"
#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "app/window/ui_bench.h"
#include "core/cases/random_case.h"
#include "core/variants/variants.h"
#include "tests/commands/program.h"
#include "tests/overwriting.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Ran run(const char* command, const std::vector<std::string>& arguments) {
  return palimpsest_with(joined({command}, arguments), window_commands());
}

Ran render(const std::vector<std::string>& arguments) { return run("render", arguments); }

}  // namespace

TEST_CASE("render refuses what it cannot do, and leaves no picture", "[render]") {
  const TemporaryFolder folder;
  const std::string output = folder / "x.png";
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const bool has_output = std::ranges::find(arguments, "--output") != arguments.end();
    check_failure(render(has_output ? arguments : joined({"--output", output}, arguments)), exit_bad_usage,
                  message);
    CHECK_FALSE(std::filesystem::exists(output));
  };
  refused({"--chunk", "0"}, "chunk size is 0");
  refused({"--chunk", "-5"}, "--chunk is \"-5\"");
  refused({"--head", "99"}, "--head is 99; expected a head from 0 to ");
  refused({"--head", "-7"}, "--head is \"-7\"");
  refused({"--form", ""}, "there is no form \"\"");
  refused({"--at", ""}, "the token of --at is \"\"");
  refused({"--at", "3:"}, "--at: there is no operation \"\"");
  refused({"--why", "3"}, "expected ROW,COLUMN");
  refused({"--why", "3,x"}, "the column of --why");
  refused({"--why", "64,1"}, "has 64 rows and 64 columns");
  refused({"--variant", ""}, "there is no variant \"\"");
  refused({"--session", "x.json", "--capture", "preset:copy"}, "not both");
  refused({"--state", "eyJkYXRhIjoicHJlc2V0OmNvcHkifQ", "--capture", "preset:copy"}, "not both");
  refused({"--state", "eyJkYXRhIjoicHJlc2V0OmNvcHkifQ", "--session", "x.json"}, "not both");
  refused({"--state", "eyJkYXRhIjoicHJlc2V0OmNvcHkiLCJ3b3Jrc3BhY2UiOiJub3doZXJlIn0"},
          "there is no workspace \"nowhere\"");
  refused({"--workspace", "studio"}, "there is no workspace \"studio\"; expected one of: step, learn");
  refused({"--state", "no state"}, "this state cannot be opened: character 3 is \" \"");
  refused({"--capture", "preset:copy?T=8&T=9"}, "T is given twice");
  refused({"--capture", "preset:random?T=65536&K=512&V=512"}, "T x K x V is ");
  for (const char* scale : {"-3", "nan", "0", "5", "x"}) refused({"--scale", scale}, "--scale is ");
  refused({"--session", "/dev/zero"}, "/dev/zero: is not a regular file");
  for (const char* size : {"4294967936x400", "+640x400", " 640x400", "640x400 ", "640", "8193x64", "15x64"})
    refused({"--size", size}, "--size is \"");
  const std::string fifo = folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  refused({"--session", fifo}, "is not a regular file");
  refused({"--output", fifo}, "is not a regular file");
  refused({"--output", "/dev/full"}, "is not a regular file");
  write_file(folder / "file", "words");
  refused({"--tour", folder / "file"}, (folder / "file").string());
}

TEST_CASE("render draws a state as its session file and as its options say", "[render]") {
  const TemporaryFolder folder;
  Session session;
  REQUIRE(session.open_named("preset:copy?T=12&K=4&V=4"));
  Choice choice = session.choice();
  choice.form = Form::chunkwise;
  choice.variant = "kda";
  session.choose(choice);
  session.change_view({.theme = Theme::light});
  session.wait();
  session.go_to_token(5);
  write_file(folder / "place.json", session.to_json());
  const auto picture = [&](std::vector<std::string> arguments) {
    const Ran ran = render(joined(std::move(arguments), {"--size", "640x400", "--output", folder / "x.png"}));
    CHECK(ran.error == "");
    return read_file(folder / "x.png");
  };
  const std::string expected = picture({"--capture", "preset:copy?T=12&K=4&V=4", "--variant", "kda", "--form",
                                        "chunkwise", "--theme", "light", "--at", "5"});
  CHECK(picture({"--state", session.to_string(), "--at", "5"}) == expected);
  CHECK(picture({"--session", folder / "place.json", "--at", "5"}) == expected);
}

TEST_CASE("render does not write over the data of a session", "[render]") {
  const TemporaryFolder folder;
  const std::string data = folder / "data.npz";
  write_npz(data, random_arrays(find_variant("linear"), resolve(find_variant("linear"), {}), {}));
  const std::string before = read_file(data);
  write_file(folder / "session.json", "{\"data\": \"data.npz\"}");
  check_failure(render({"--session", folder / "session.json", "--output", data}), exit_bad_usage,
                "is the input and would be lost");
  CHECK(read_file(data) == before);
}

TEST_CASE("render says why a form does not exist, and draws none", "[render]") {
  const TemporaryFolder folder;
  const std::string output = folder / "x.png";
  check_failure(render({"--variant", "ttt_mlp", "--form", "parallel", "--output", output}), exit_unsupported,
                "ttt_mlp has no parallel form here: ", "each batch needs the weights after the previous one");
  CHECK_FALSE(std::filesystem::exists(output));
}

// In a process of its own, because MicroTeX starts once.
TEST_CASE("render says that the formula font is damaged, and draws no half of a picture", "[render]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "fonts/latex");
  std::string font = read_file(asset("fonts/latex/latinmodern-math.otf"));
  // From a quarter of the file on lie the outlines of the letters.
  const std::size_t outlines = font.size() / 4;
  font.replace(outlines, font.size() * 7 / 10, font.size() * 7 / 10, '\xff');
  write_file(folder / "fonts/latex/latinmodern-math.otf", font);
  setenv("PALIMPSEST_ASSETS", folder.path().c_str(), 1);
  const Ran ran = program({"render", "--output", folder / "x.png"});
  unsetenv("PALIMPSEST_ASSETS");
  check_failure(ran, exit_bad_usage, "latinmodern-math.otf' is damaged");
  CHECK_FALSE(std::filesystem::exists(folder / "x.png"));
}

TEST_CASE("render writes one picture and nothing else", "[render]") {
  const TemporaryFolder folder;
  const Ran ran = render(
      {"--size", "64x64", "--capture", "preset:copy", "--chunk", "1000000", "--output", folder / "x.png"});
  INFO(ran.error);
  CHECK(ran.status == exit_done);
  CHECK(read_file(folder / "x.png").starts_with("\x89PNG"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a folder that is gone does not end the program", "[application]") {
  const std::filesystem::path before = std::filesystem::current_path();
  Application application;
  open_overwriting(application.session);
  application.session.wait();
  std::filesystem::path gone;
  {
    const TemporaryFolder folder;
    gone = folder.path();
    std::filesystem::current_path(gone);
  }
  Offscreen offscreen(640, 400);
  application.show_open = true;
  CHECK_NOTHROW(offscreen.render([&] { application.draw(1); }));
  CHECK_NOTHROW(application.ask_where_to_save());
  const std::string reason = application.save_to(gone / "place.json");
  std::filesystem::current_path(before);
  CHECK_THAT(reason, says("cannot be written"));
}

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
  const Ran ran = run("bench", {"ui", "--tokens", "20", "--channels", "5", "--frames", "3", "--size",
                                "960x600", "--json", file});
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
    // The curves of Measure are pointed at, the weights of Attend zoomed.
    const bool has_own = std::set<std::string>{"measure", "attend"}.contains(measured_workspaces.back());
    CHECK(actions.size() == (has_own ? 10 : 9));
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
    check_failure(run("bench", arguments), exit_bad_usage, message);
  }
}
