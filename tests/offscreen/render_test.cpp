#include <sys/stat.h>
#include <unistd.h>

#include "app/session/paths.h"
#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "app/window/window_commands.h"
#include "core/cases/random_case.h"
#include "core/variants/variants.h"
#include "tests/commands/cli.h"
#include "tests/commands/program.h"
#include "tests/overwriting.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Ran render(const std::vector<std::string>& arguments) {
  return palimpsest_with(joined({"render"}, arguments), window_commands());
}

}  // namespace

TEST_CASE("render refuses what it cannot do, and leaves no picture", "[render]") {
  const TemporaryFolder folder;
  const std::string output = folder / "x.png";
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const bool has_output = std::ranges::find(arguments, "--output") != arguments.end();
    const Ran ran = render(has_output ? arguments : joined({"--output", output}, arguments));
    INFO(ran.error);
    CHECK(ran.status == exit_bad_usage);
    CHECK(is_one_line(ran.error));
    CHECK_THAT(ran.error, says(message));
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
  const Ran ran = render({"--session", folder / "session.json", "--output", data});
  CHECK(ran.status == exit_bad_usage);
  CHECK_THAT(ran.error, says("is the input and would be lost"));
  CHECK(read_file(data) == before);
}

TEST_CASE("render says why a form does not exist, and draws none", "[render]") {
  const TemporaryFolder folder;
  const std::string output = folder / "x.png";
  const Ran ran = render({"--variant", "ttt_mlp", "--form", "parallel", "--output", output});
  CHECK(ran.status == exit_unsupported);
  CHECK(is_one_line(ran.error));
  CHECK_THAT(ran.error, says("ttt_mlp has no parallel form here: ") &&
                            says("each batch needs the weights after the previous one"));
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
  CHECK(ran.status == exit_bad_usage);
  CHECK(is_one_line(ran.error));
  CHECK_THAT(ran.error, says("latinmodern-math.otf' is damaged"));
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
