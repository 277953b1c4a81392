// Keys that come faster than frames.

#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void control(bool down) {
  for (const ImGuiKey key : {ImGuiMod_Ctrl, ImGuiKey_LeftCtrl}) ImGui::GetIO().AddKeyEvent(key, down);
}

/// A letter as a keyboard sends it.
void type(char letter) {
  ImGuiIO& io = ImGui::GetIO();
  const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'a'));
  io.AddKeyEvent(key, true);
  io.AddInputCharacter(static_cast<unsigned>(letter));
  io.AddKeyEvent(key, false);
}

/// The program after its first frames.
struct Awaited : ShownProgram {
  Awaited() { pass(3); }
};

}  // namespace

// As where a frame takes long: all that was typed meanwhile comes at once.
TEST_CASE("a chord counts with the modifiers that were held when its key was pressed", "[commands]") {
  Awaited shown;
  Application& application = shown.application;
  ImGuiIO& io = ImGui::GetIO();
  for (const bool key_is_let_go_first : {false, true}) {
    for (const bool control_is_down_before : {false, true}) {
      CAPTURE(key_is_let_go_first, control_is_down_before);
      application.show_palette = false;
      shown.pass(4);
      control(true);
      if (control_is_down_before) shown.pass();
      io.AddKeyEvent(ImGuiKey_P, true);
      if (key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      control(false);
      if (!key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      shown.pass(4);
      CHECK(application.show_palette);
      CHECK(application.session.choice().precision == Precision::f64);
    }
  }
  // A modifier that is pressed after its key does not count, and nothing is lost.
  application.show_palette = false;
  shown.pass(4);
  io.AddKeyEvent(ImGuiKey_P, true);
  control(true);
  io.AddKeyEvent(ImGuiKey_P, false);
  control(false);
  shown.pass(4);
  CHECK_FALSE(application.show_palette);
  CHECK(application.session.choice().precision == Precision::f32);
  CHECK_FALSE(io.KeyCtrl);
}

TEST_CASE("what is typed at once after the key of the palette stands in it", "[commands]") {
  for (const int frames_between : {0, 1, 2, 3}) {
    CAPTURE(frames_between);
    Awaited shown;
    control(true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_P, true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_P, false);
    control(false);
    shown.pass(frames_between);
    for (const char letter : {'r', 'e', 't', 'n'}) {
      type(letter);
      if (frames_between > 0) shown.pass();
    }
    shown.pass(12);
    CHECK(shown.application.show_palette);
    CHECK_FALSE(shown.application.show_data);
    CHECK(words_at("commands/typed") == "retn");
    type('e');  // it goes on behind them
    shown.pass(4);
    CHECK(words_at("commands/typed") == "retne");
  }
}

TEST_CASE("the filter of the data takes what follows its key, and where nothing matches shows nothing",
          "[commands]") {
  Awaited shown;
  const std::string title = shown.session.data().title;
  type('d');
  shown.pass();
  REQUIRE(shown.application.show_data);
  shown.draw();
  CHECK(words_at("all data/details/title") == title);  // its own letter filters nothing
  for (const char letter : {'z', 'z', 'q'}) type(letter);
  shown.pass(12);
  CHECK(words_at("all data/details/title").empty());
  for (int i = 0; i < 3; ++i) {
    shown.press(ImGuiKey_Backspace);
    shown.pass();
  }
  shown.draw();
  CHECK(words_at("all data/details/title") == title);
}
