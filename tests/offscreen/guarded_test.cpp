// A problem in drawing is told in its place and leaves nothing behind in Dear ImGui.

#include <cstring>
#include <new>
#include <stdexcept>

#include "app/gl/heat_map_renderer.h"
#include "app/studio/application.h"
#include "app/widgets/controls.h"
#include "core/base/error.h"
#include "tests/offscreen/drawn.h"

namespace palimpsest {
void draw_data(Application&), draw_forms(Application&), draw_timeline(Application&);
}

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

bool are_same(const Image& a, const Image& b) { return a.rgb == b.rgb; }

// What the panel below does.
enum class Mishap { none, error, memory, mistake, after_a_child, in_a_popup };
Mishap mishap = Mishap::none;

// Leaves everything open that can be open.
[[noreturn]] void fail_deep_inside() {
  style::begin_panel("panel");
  ImGui::PushID("somewhere");
  ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32_WHITE);
  ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.5F);
  const style::TextStyle text(style::Text::title);
  ImGui::BeginGroup();
  ImGui::BeginDisabled();
  ImGui::BeginChild("inner", {50, 50});
  ImGui::PushItemFlag(ImGuiItemFlags_NoNav, true);
  if (ImGui::BeginTable("table", 2)) ImGui::TableNextColumn();
  ImGui::TextUnformatted("half of it");
  throw Error("the spoon is missing");
}

void draw_faulty(Application&) {
  switch (mishap) {
    case Mishap::none:
      if (style::begin_panel("Faulty")) ImGui::InvisibleButton("here", {20, 20});
      style::end_panel();
      return;
    case Mishap::error:
      fail_deep_inside();
    case Mishap::memory:
      throw std::bad_alloc();
    case Mishap::mistake:
      throw std::logic_error("seven is not even");
    case Mishap::after_a_child:
      if (style::begin_panel("Faulty")) ImGui::TextUnformatted("all of it");
      style::end_panel();
      throw Error("too late");
    case Mishap::in_a_popup:
      ImGui::OpenPopup("popup");
      if (ImGui::BeginPopup("popup")) throw Error("the popup popped");
      return;
  }
}

constexpr Panel faulty_panels[] = {
    {"Data", PanelPlace::left_top, draw_data, ""},
    {"Stage", PanelPlace::center, draw_faulty, ""},
    {"Forms", PanelPlace::right_top, draw_forms, ""},
    {"Timeline", PanelPlace::bottom, draw_timeline, ""},
};

constexpr Workspace faulty_workspaces[] = {{"step", "Step", "", 0, faulty_panels}};

}  // namespace

TEST_CASE("what was begun and pushed is ended and popped where drawing fails", "[guarded]") {
  DarkOffscreen offscreen(400, 300);
  offscreen.render([] {
    ImGui::Begin("window");
    ImGuiErrorRecoveryState before;
    ImGui::ErrorRecoveryStoreState(&before);
    const ImGuiStyle look = ImGui::GetStyle();
    CHECK(guarded(fail_deep_inside) == "the spoon is missing");
    ImGuiErrorRecoveryState after;
    ImGui::ErrorRecoveryStoreState(&after);
    CHECK(std::memcmp(&before, &after, sizeof before) == 0);
    CHECK(ImGui::GetStyle().Alpha == look.Alpha);
    CHECK(ImGui::GetStyle().Colors[ImGuiCol_Text].y == look.Colors[ImGuiCol_Text].y);
    CHECK(guarded([] {  // as in a part of a scene that can be used
            ImGui::BeginDisabled(false);
            ImGui::BeginChild("inner", {50, 50});
            throw Error("too early");
          }) == "too early");
    CHECK(ImGui::GetStyle().Alpha == look.Alpha);
    CHECK(guarded([] {}) == "");
    CHECK(guarded([] { throw 7; }) == "something went wrong");
    draw_problem("window", "words");
    ImGui::End();
  });
}

TEST_CASE("a panel that cannot be drawn says why; the others go on", "[guarded]") {
  const std::pair<Mishap, std::string> faults[] = {
      {Mishap::error, "Stage: the spoon is missing"},
      {Mishap::memory, "Stage: there is not enough memory for this"},
      {Mishap::mistake, "Stage: a bug in this program: seven is not even"},
      {Mishap::after_a_child, "Stage: too late"},
      {Mishap::in_a_popup, "Stage: the popup popped"}};
  ShownProgram shown(faulty_workspaces);
  Application& application = shown.application;
  mishap = Mishap::none;
  application.show_welcome = false;
  const Image well = shown.picture(30);
  CHECK(application.undrawn() == "");
  for (const auto& [fault, said] : faults) {
    CAPTURE(said);
    mishap = fault;
    const Image image = shown.picture(30);
    CHECK(application.undrawn() == said);
    CHECK_FALSE(are_same(image, well));
    // The words lie over what was drawn of the panel, and the timeline below is as it was.
    const ImGuiWindow* stage = ImGui::FindWindowByName("Stage");
    REQUIRE(stage != nullptr);
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto words = std::ranges::find_if(windows, [&](const ImGuiWindow* child) {
      return child->ParentWindow == stage && child->Active && std::strstr(child->Name, "##problem");
    });
    REQUIRE(words != windows.end());
    CHECK((*words)->Size == stage->Size);
    Rectangle timeline = window_place("Timeline");
    timeline.minimum.x = 0;
    timeline.maximum.x = 1280;
    REQUIRE(timeline.height() > 0);
    CHECK(count_pixels(timeline, [&](int x, int y) { return pixel(image, x, y) != pixel(well, x, y); }) == 0);
    if (fault != Mishap::in_a_popup) {  // a popup has the keys to itself
      const Cursor cursor = application.session.cursor();
      shown.press(ImGuiKey_RightArrow);
      shown.pass();
      CHECK_FALSE(application.session.cursor() == cursor);
      application.session.set_cursor(cursor);
    }
    mishap = Mishap::none;
    ImGui::ClosePopupsExceptModals();
    const Image again = shown.picture(30);
    CHECK(application.undrawn() == "");
    CHECK(are_same(again, well));
  }
}

TEST_CASE("a picture that OpenGL does not take is an error, not an empty texture", "[guarded]") {
  Offscreen offscreen(64, 64);
  offscreen.render([] {}, 1);
  Texture texture;
  const std::vector<float> row(1 << 20);
  CHECK_THROWS_WITH(texture.upload_numbers(row, 1 << 20, 1), says("no room for a picture of 1048576 by 1"));
  CHECK_NOTHROW(texture.upload_numbers({row.data(), 12}, 4, 3));
}
