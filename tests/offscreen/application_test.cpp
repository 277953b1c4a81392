#include <cstdlib>

#include "app/views/data_parts.h"
#include "tests/core/io/files.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("every workspace is drawn with nothing open, and with one token", "[workspaces]") {
  for (const Workspace& workspace : workspaces()) {
    CAPTURE(workspace.id);
    Application application;
    application.enter(workspace.id);
    Offscreen offscreen(1280, 800);
    offscreen.pass([&] { application.draw(1); });
    CHECK(application.undrawn() == "");
    if (workspace.id == std::string("learn")) CHECK_THAT(words_at("learn/reason"), says("press Ctrl+O"));
    ShownProgram(workspace.id, "preset:random?T=1&K=1&V=1&seed=1").draw();
  }
}

TEST_CASE("the smallest sequences are drawn in every form of every rule", "[application]") {
  for (const char* data : {"preset:random?T=1&K=1&V=1&seed=1", "preset:random?T=2&K=3&V=5&seed=1"}) {
    ShownProgram shown("step", data);
    for (const Variant& variant : variants()) {
      for (const Form form : all_forms) {
        CAPTURE(data, variant.id, name(form));
        shown.choose(variant.id, form);
        CHECK(shown.session.message() == "");
        shown.session.step(Session::Grain::end, 1);
        shown.pass();
        CHECK(shown.application.undrawn() == "");
      }
    }
  }
}

TEST_CASE("the program is drawn at every size, however small or narrow", "[application]") {
  const Size sizes[] = {{16, 16, 1},   {16, 600, 1},  {1200, 16, 1}, {100, 100, 1},
                        {200, 200, 1}, {320, 240, 1}, {500, 400, 1}, {560, 400, 1},
                        {640, 480, 1}, {800, 600, 2}, {480, 320, 4}};
  for (const Form form : all_forms) {
    ShownProgram shown;
    shown.choose(form);
    for (const Size& size : sizes) {
      CAPTURE(name(form), size.width, size.height, size.scale);
      shown.resize(size);
      Image image;
      CHECK_NOTHROW(image = shown.offscreen().render([&] { shown.application.draw(size.scale); }));
      CHECK(image.width == size.width);
    }
  }
}

TEST_CASE("what is dropped and cannot even be looked for is told in words", "[application]") {
  ShownProgram shown("step", "preset:overwrite?T=12&K=6&V=6");
  const std::string long_name(5000, 'x');  // longer than any system takes
  for (const std::string& name : {long_name, long_name + ".npz", long_name + ".json", std::string()}) {
    CAPTURE(name.size());
    shown.session.clear_message();
    CHECK_NOTHROW(shown.application.drop({name}));
    shown.session.wait();
    CHECK_FALSE(shown.session.message().empty());
    CHECK(shown.session.data().tokens == 12);
  }
  CHECK_NOTHROW(shown.application.drop({}));
}

// A formula too wide for its panel is made smaller until it fits: steps that round to nothing never end.
TEST_CASE("formulas are drawn in small letters in narrow windows", "[application]") {
  constexpr float small = 0.9F;
  ShownProgram shown("step", "preset:overwrite?T=12&K=6&V=6");
  for (const char* const variant : {"gated_deltanet", "kda", "rwkv7", "mesanet"}) {
    CAPTURE(variant);
    shown.choose(variant, Form::chunkwise);
    for (const int width : {480, 560, 760}) {
      shown.resize({width, 1000, small});
      CHECK_NOTHROW(shown.offscreen().render([&] { shown.application.draw(small); }));
    }
  }
}

TEST_CASE("a place is saved at home, then where the last one was, and is found again", "[files]") {
  const TemporaryFolder home;
  const TemporaryFolder elsewhere;
  const char* known = std::getenv("HOME");
  const std::string before = known ? known : "";
  setenv("HOME", home.path().c_str(), 1);
  ShownProgram shown;
  shown.session.go_to_token(19);
  shown.application.ask_where_to_save();
  CHECK(std::filesystem::path(shown.application.save_path).parent_path() == home.path());
  setenv("HOME", before.c_str(), 1);

  const std::filesystem::path file = elsewhere / "mine.json";
  REQUIRE(shown.application.save_to(file) == "");
  CHECK(shown.application.recent_files == std::vector<std::string>{file.string()});
  CHECK(shown.application.own_folder() == elsewhere.path());
  const std::vector<DataEntry> entries = data_entries(shown.application.recent_files);
  CHECK(entries.front().id == file.string());
  shown.session.go_to_token(3);
  CHECK(shown.application.open(file));
  shown.session.wait();
  CHECK(shown.session.token() == 19);
  CHECK(shown.application.recent_files.size() == 1);
  shown.application.recent_files = {"/no/such/folder/x.npz"};  // one that is gone is passed over
  CHECK(shown.application.own_folder() != "/no/such/folder");

  Application next;
  next.recent_files = {file.string()};
  next.ask_where_to_save();
  CHECK(std::filesystem::path(next.save_path).parent_path() == elsewhere.path());
}

TEST_CASE("no two data of one group have the same name", "[files]") {
  std::set<std::pair<std::string, std::string>> names;
  for (const DataEntry& entry : data_entries({})) {
    CAPTURE(entry.group, entry.name);
    CHECK(names.emplace(entry.group, entry.name).second);
  }
  CHECK(names.contains({"Trained models · Mamba-2 (scalar decay)", "Mamba-2: recall · layer 2"}));
  CHECK(names.contains({"Trained models · DeltaNet", "overwriting a fact · layer 2"}));
}
