// Keys that come faster than frames.

#include "app/gl/canvas.h"

#include <imgui.h>

#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"
#include "tests/offscreen/plots.h"

using namespace palimpsest;
using namespace palimpsest::testing;

// As where a frame takes long: all that was typed meanwhile comes at once.
TEST_CASE("a chord counts with the modifiers that were held when its key was pressed", "[commands]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  Offscreen offscreen(1280, 800);
  const auto frame = [&] { offscreen.pass([&] { application.draw(1); }); };
  for (int i = 0; i < 3; ++i) frame();
  ImGuiIO& io = ImGui::GetIO();
  const auto control = [&](bool down) {
    io.AddKeyEvent(ImGuiMod_Ctrl, down);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, down);
  };
  const auto frames = [&] {
    for (int i = 0; i < 4; ++i) frame();
  };
  for (const bool key_is_let_go_first : {false, true}) {
    for (const bool control_is_down_before : {false, true}) {
      CAPTURE(key_is_let_go_first, control_is_down_before);
      application.show_palette = false;
      frames();
      control(true);
      if (control_is_down_before) frame();
      io.AddKeyEvent(ImGuiKey_P, true);
      if (key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      control(false);
      if (!key_is_let_go_first) io.AddKeyEvent(ImGuiKey_P, false);
      frames();
      CHECK(application.show_palette);
      CHECK(application.session.choice().precision == Precision::f64);
    }
  }
  // A modifier that is pressed after its key does not count, and nothing is lost.
  application.show_palette = false;
  frames();
  io.AddKeyEvent(ImGuiKey_P, true);
  control(true);
  io.AddKeyEvent(ImGuiKey_P, false);
  control(false);
  frames();
  CHECK_FALSE(application.show_palette);
  CHECK(application.session.choice().precision == Precision::f32);
  CHECK_FALSE(io.KeyCtrl);
}

namespace {

/// A letter as a keyboard sends it.
void type(char letter) {
  ImGuiIO& io = ImGui::GetIO();
  const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'a'));
  io.AddKeyEvent(key, true);
  io.AddInputCharacter(static_cast<unsigned>(letter));
  io.AddKeyEvent(key, false);
}

}  // namespace

TEST_CASE("what is typed at once after the key of the palette stands in it", "[commands]") {
  for (const int frames_between : {0, 1, 2, 3}) {
    CAPTURE(frames_between);
    Application application;
    application.open_first_capture();
    application.session.wait();
    Offscreen offscreen(1280, 800);
    const auto frame = [&] { offscreen.pass([&] { application.draw(1); }); };
    for (int i = 0; i < 3; ++i) frame();
    ImGuiIO& io = ImGui::GetIO();
    io.AddKeyEvent(ImGuiMod_Ctrl, true);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, true);
    io.AddKeyEvent(ImGuiKey_P, true);
    io.AddKeyEvent(ImGuiKey_P, false);
    io.AddKeyEvent(ImGuiMod_Ctrl, false);
    io.AddKeyEvent(ImGuiKey_LeftCtrl, false);
    for (int i = 0; i < frames_between; ++i) frame();
    for (const char letter : {'r', 'e', 't', 'n'}) {
      type(letter);
      if (frames_between > 0) frame();
    }
    for (int i = 0; i < 12; ++i) frame();
    CHECK(application.show_palette);
    CHECK_FALSE(application.show_data);
    CHECK(words_at("commands/typed") == "retn");
    type('e');  // it goes on behind them
    for (int i = 0; i < 4; ++i) frame();
    CHECK(words_at("commands/typed") == "retne");
  }
}

TEST_CASE("the filter of the data takes what follows its key, and where nothing matches shows nothing",
          "[commands]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  Offscreen offscreen(1280, 800);
  const auto frame = [&] { offscreen.pass([&] { application.draw(1); }); };
  for (int i = 0; i < 3; ++i) frame();
  type('d');
  frame();
  REQUIRE(application.show_data);
  for (int i = 0; i < 6; ++i) frame();
  application.session.questions().wait();
  frame();
  CHECK(words_at("all data/details/title") ==
        application.session.data().title);  // its own letter filters nothing
  for (const char letter : {'z', 'z', 'q'}) type(letter);
  for (int i = 0; i < 12; ++i) frame();
  CHECK(words_at("all data/details/title").empty());
  for (int i = 0; i < 3; ++i) {
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Backspace, true);
    ImGui::GetIO().AddKeyEvent(ImGuiKey_Backspace, false);
    for (int j = 0; j < 3; ++j) frame();
  }
  application.session.questions().wait();
  frame();
  CHECK(words_at("all data/details/title") == application.session.data().title);
}
