#include <imgui.h>
#include <imgui_internal.h>

#include <string_view>

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

TEST_CASE("all keys and all that the mouse does fit into the smallest window", "[keys]") {
  Application application;
  application.show_keys = true;
  Offscreen offscreen(1280, 800);
  for (const Workspace& workspace : application.workspaces()) {  // each has keys of its own
    CAPTURE(workspace.id);
    application.enter(workspace.id);
    for (int frame = 0; frame < 6; ++frame) offscreen.pass([&] { application.draw(1); });
    int cards = 0;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      if (!window->WasActive || std::string_view(window->Name).find("Keys") == std::string_view::npos)
        continue;
      ++cards;
      CHECK(window->ScrollMax.x == 0);
      CHECK(window->ScrollMax.y == 0);
      CHECK(window->Pos.x >= 0);
      CHECK(window->Pos.y >= 0);
      CHECK(window->Pos.x + window->ContentSize.x + 2 * window->WindowPadding.x <= 1280);
      CHECK(window->Pos.y + window->ContentSize.y + 2 * window->WindowPadding.y <= 800);
    }
    CHECK(cards >= 1);
  }
}
