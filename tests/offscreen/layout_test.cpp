// Workspaces and where their panels lie; what is kept of it between starts.

#include <random>

#include "core/base/error.h"
#include "tests/offscreen/drawn.h"

namespace palimpsest {
void draw_timeline(Application&);
}

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

int drawn_tides = 0;

void draw_tides(Application&) {
  ++drawn_tides;
  ImGui::TextUnformatted("high water");
}

// One that only this test knows, with a panel that only it knows.
constexpr Panel tide_panels[] = {{"Tides", PanelPlace::center, draw_tides, ""},
                                 {"Timeline##tides", PanelPlace::bottom, draw_timeline, ""}};

const Workspace two_workspaces[] = {{"step", "Step", "", 0, workspaces().front().panels},
                                    {"tides", "Tides", "When the water is high", ImGuiKey_F8, tide_panels}};

ImGuiWindow& window(const char* title) {
  ImGuiWindow* found = ImGui::FindWindowByName(title);
  REQUIRE(found != nullptr);
  return *found;
}

struct Started : ShownProgram {
  explicit Started(const OwnLayout& kept = {}) : ShownProgram(two_workspaces) {
    application.panel_layout.restore(kept);
    draw();
  }
  OwnLayout own() { return application.panel_layout.own(application.workspaces()); }

  /// The layout after a person has docked one panel beside another.
  OwnLayout own_docked() {
    ImGuiWindow& beside = window("Timeline");
    ImGui::DockContextQueueDock(ImGui::GetCurrentContext(), &beside, beside.DockNode, &window("Data"),
                                ImGuiDir_Right, 0.3F, false);
    draw();
    return own();
  }
};

}  // namespace

TEST_CASE("a workspace is one row: it has a key, a tab, a command and its panels", "[layout]") {
  Started started;
  Application& application = started.application;
  CHECK(std::string(application.workspace().id) == "step");
  CHECK(is_window_shown("Stage"));
  CHECK_FALSE(is_window_shown("Tides"));
  started.press(ImGuiKey_F8, 4);
  CHECK(std::string(application.workspace().id) == "tides");
  CHECK(is_window_shown("Tides"));
  CHECK(is_window_shown("Timeline##tides"));
  CHECK_FALSE(is_window_shown("Stage"));
  CHECK(drawn_tides > 0);
  CHECK(window("Tides").Size.y > window("Timeline##tides").Size.y);
  started.draw_after("workspace.step");
  CHECK(is_window_shown("Stage"));
  CHECK_FALSE(is_window_shown("Tides"));
  CHECK(application.undrawn() == "");
  CHECK_THROWS_WITH(application.enter("nowhere"), says("nowhere"));
  // With one there is nothing to choose from.
  CHECK_THROWS(find_command(Application(std::span(two_workspaces, 1)), "workspace.step"));
}

TEST_CASE("a panel with nothing to show leaves its room to the one above it", "[layout]") {
  static bool has_something = true;
  static constexpr Panel list[] = {
      {"Upper", PanelPlace::center, draw_tides, ""},
      {"Lower", PanelPlace::center_bottom, draw_tides, "", [](const Application&) { return has_something; }},
      {"Floor", PanelPlace::bottom, draw_tides, ""}};
  static const Workspace only[] = {{"halves", "Halves", "", 0, list}};
  ShownProgram shown(only);
  const Application& application = shown.application;
  const auto heights = [&] {
    shown.pass(4);
    return std::pair(window("Upper").Size.y, window("Lower").Size.y);
  };
  const auto [upper, lower] = heights();
  CHECK(upper > lower);
  CHECK(lower > 0.27F * (upper + lower));  // at least what the tables of answers need
  has_something = false;
  CHECK(heights().first > 0.98F * (upper + lower));
  CHECK_FALSE(is_window_shown("Lower"));
  CHECK_FALSE(application.panel_layout.is_own(application.workspace()));
  has_something = true;
  CHECK(heights() == std::pair(upper, lower));
}

TEST_CASE("the panels of all workspaces have titles of their own", "[layout]") {
  std::vector<std::string> titles;
  for (const Workspace& workspace : workspaces())
    for (const Panel& panel : workspace.panels) titles.emplace_back(panel.title);
  std::ranges::sort(titles);
  CHECK(std::ranges::adjacent_find(titles) == titles.end());
}

TEST_CASE("docking is kept for each workspace, also between starts", "[layout]") {
  OwnLayout kept;
  ImVec2 position;
  {
    Started started;
    CHECK(started.own() == OwnLayout{});
    started.own_docked();
    position = window("Data").Pos;
    CHECK(position.y == window("Timeline").Pos.y);
    started.draw_in("tides");
    CHECK_FALSE(started.application.panel_layout.is_own(started.application.workspace()));
    started.draw_in("step");
    CHECK(window("Data").Pos == position);
    kept = started.own();
    CHECK(kept.workspaces == std::vector<std::string>{"step"});
  }
  {
    Started started(kept);
    CHECK(window("Data").Pos == position);
    CHECK(window("Data").DockNode != nullptr);
    CHECK(started.own().workspaces == kept.workspaces);
    started.draw_in("tides");
    CHECK(window("Tides").DockNode != nullptr);
    started.application.enter("step");
    started.draw_after("view.reset_layout");
    CHECK(window("Data").Pos.y < 100);
    CHECK(started.own() == OwnLayout{});
  }
}

TEST_CASE("another size, tabs and time make a layout nobody's own", "[layout]") {
  Started started;
  Application& application = started.application;
  const Rectangle stage = window_place("Stage");
  for (const char* id : {"view.larger", "view.smaller"}) {
    while (why_not(find_command(application, id), application).empty()) {
      perform(find_command(application, id), application);
      started.pass(2);
      CHECK(started.own() == OwnLayout{});
    }
  }
  CHECK(application.zoom == 0.5);
  for (int i = 0; i < 2; ++i) {
    started.draw_after("view.tabs");
    CHECK(started.own() == OwnLayout{});
  }
  started.draw_after("view.usual_size");
  CHECK(window_place("Stage") == stage);
}

TEST_CASE("a panel that a kept layout does not know lies in the middle", "[layout]") {
  const OwnLayout kept = Started().own_docked();
  REQUIRE(kept.workspaces.size() == 1);
  const std::span<const Panel> known = workspaces().front().panels;
  std::vector<Panel> more(known.begin(), known.end());
  more.push_back({"Tides", PanelPlace::left_top, draw_tides, ""});
  const Workspace grown[] = {{"step", "Step", "", 0, more}};
  ShownProgram shown(grown);
  shown.application.panel_layout.restore(kept);
  shown.draw();
  CHECK(window("Tides").DockId == window("Stage").DockId);
  CHECK(window("Data").DockId != window("Stage").DockId);
}

// Dear ImGui asserts that the nodes of a layout make a tree: what it would not take is refused before.
TEST_CASE("a kept layout with mistakes in it is refused or harmless", "[layout]") {
  const OwnLayout kept = Started().own_docked();
  std::mt19937 random{7};
  const auto below = [&](std::size_t count) { return random() % count; };
  int refused = 0;
  constexpr int tries = 300;
  for (int i = 0; i < tries; ++i) {
    OwnLayout broken = kept;
    std::string& text = broken.text;
    const std::size_t docking = text.find("[Docking]");
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(2) == 0 ? below(text.size()) : docking + below(text.size() - docking);
      switch (below(4)) {
        case 0:
          text[at] = "0123456789ABCDEF=,x \n["[below(22)];
          break;
        case 1:
          text.erase(at, 1 + below(40));
          break;
        case 2: {  // a line less
          const std::size_t begin = text.rfind('\n', at) + 1;
          text.erase(begin, text.find('\n', begin) - begin + 1);
          break;
        }
        default:
          text.insert(at, text.substr(docking + below(text.size() - docking), 60));
          break;
      }
      if (text.size() <= docking) break;
    }
    CAPTURE(text);
    Application application;
    Offscreen offscreen(640, 480);
    try {
      application.panel_layout.restore(broken);
    } catch (const InputError&) {
      ++refused;
      continue;
    }
    for (int frame = 0; frame < 3; ++frame) offscreen.pass([&] { application.draw(1); });
    CHECK(application.undrawn() == "");
  }
  CHECK(refused > tries / 4);
  CHECK(refused < tries);
}
