#include <imgui.h>

#include "app/studio/application.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("keys that switch act once, however long they are held", "[keys]") {
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.session.set_cursor({});
  Offscreen offscreen(640, 480);
  int switched = 0;
  style::Theme theme = application.view.theme;
  const auto hold = [&](ImGuiKey key) {
    ImGui::GetIO().AddKeyEvent(key, true);
    for (int frame = 0; frame < 90; ++frame) {  // a second and a half
      offscreen.pass([&] { application.draw(1); });
      if (application.view.theme != theme) ++switched;
      theme = application.view.theme;
    }
    ImGui::GetIO().AddKeyEvent(key, false);
    offscreen.pass([&] { application.draw(1); });
  };
  offscreen.render([&] { application.draw(1); });
  hold(ImGuiKey_L);
  CHECK(switched == 1);
  hold(ImGuiKey_RightArrow);
  CHECK(application.session.token() > 1);  // steps go on
}
