// What the palette finds beside the commands that there always are.

#include "app/views/commands_here.h"

#include <imgui.h>

#include <algorithm>

#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("what is open is found by its words", "[commands]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.session.go_to_token(40);
  Offscreen offscreen(1280, 800);
  const auto frame = [&] { offscreen.pass([&] { application.draw(1); }); };
  for (int i = 0; i < 3; ++i) frame();
  const auto find = [&](std::string_view typed) {
    static std::vector<Command> here;
    here = commands_here(application, typed);
    return search({application.commands(), here}, typed, {}, more_words);
  };
  const auto words = [&](std::string_view typed) {
    std::vector<std::string> all;
    for (const Command* command : find(typed)) all.push_back(command->group + ": " + command->words);
    return all;
  };
  const auto has = [&](std::string_view typed, const char* wanted) {
    const std::vector<std::string> all = words(typed);
    return std::ranges::find(all, wanted) != all.end();
  };
  CHECK(words("drum") == std::vector<std::string>{"Word: go to 42 “drum”", "Word: go to 64 “drum”"});
  CHECK(words("go to 42").front() == "Word: go to 42 “drum”");
  CHECK(words("42").front() == "Word: go to 42 “drum”");
  CHECK(words("go to DRUM").size() == 2);
  find("drum").front()->perform(application);
  CHECK(application.session.token() == 42);

  // What rules, sliders, steps and panels are called leads somewhere.
  CHECK(has("erase", "Variant: Gated DeltaNet-2"));
  CHECK(has("muon", "Variant: LaCT"));
  CHECK(has("newton", "Variant: LaCT"));
  CHECK(has("cost", "Panel: Step: Forms"));
  CHECK(has("loss gradient", "Panel: Learn: How far may it step?"));
  CHECK(words("chunk 16").front() == "Form: chunks of 16 tokens");
  find("memory answers").front()->perform(application);
  CHECK(application.workspace().id == std::string("step"));
  CHECK(find("").size() == application.commands().size());

  // A slider is brought into sight, its number ready to be typed over.
  const auto sliders = find("beta");
  REQUIRE(!sliders.empty());
  CHECK(sliders.front()->group == "Slider");
  sliders.front()->perform(application);
  for (int i = 0; i < 4; ++i) frame();
  CHECK(ImGui::GetIO().WantTextInput);
  ImGui::GetIO().AddInputCharactersUTF8("2");
  frame();
  for (const bool down : {true, false}) {
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, down);
    frame();
  }
  CHECK(slider_value(application.session.state().edits, "scale_strength") == 2);
}
