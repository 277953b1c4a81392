// Keys that come faster than frames.

#include "app/gl/new_frame.h"

#include <imgui.h>

#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

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
