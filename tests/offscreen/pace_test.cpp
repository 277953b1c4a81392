#include "app/window/pace.h"

#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr int many = 200;  // frames: more than three seconds

/// A window with one item that has words, and whether they are seen.
struct Scene {
  DarkOffscreen offscreen{400, 200};
  ImVec2 item;

  void draw() {
    pass_in_window(offscreen, {400, 200}, [&] {
      ImGui::InvisibleButton("item", {100, 20});
      item = ImGui::GetItemRectMin();
      tooltip("what it is");
    });
  }

  /// Draws as the window does after an event; `before` is what happens before each frame. Returns the number
  /// of frames.
  int draw_until_it_sleeps(const std::function<void(int frame)>& before = [](int) {}) {
    Pace pace;
    pace.change();
    int frames = 0;
    for (; pace.wants_frame() && frames < many; ++frames) {
      before(frames);
      pace.listen();
      draw();
      pace.drawn();
    }
    return frames;
  }

  static bool words_are_seen() { return is_tip_shown() && !ImGui::FindWindowByName("##Tooltip_00")->Hidden; }
};

}  // namespace

TEST_CASE("words about what the pointer rests on come although nothing else happens", "[pace]") {
  Scene scene;
  CHECK(scene.draw_until_it_sleeps() == 5);
  ImGui::GetIO().AddMousePosEvent(scene.item.x + 10, scene.item.y + 10);
  CHECK(scene.draw_until_it_sleeps() < many);  // it sleeps again
  CHECK(Scene::words_are_seen());
  ImGui::GetIO().AddMousePosEvent(scene.item.x + 10, scene.item.y + 120);
  CHECK(scene.draw_until_it_sleeps() == 5);
  CHECK_FALSE(Scene::words_are_seen());
}

TEST_CASE("a click during the last frame is drawn as any other", "[pace]") {
  Scene scene;
  const auto release = [](int frame) {
    if (frame == 4) ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  };
  ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  CHECK(scene.draw_until_it_sleeps(release) == 4 + 5);
}

TEST_CASE("words about what the pointer rests on go while one uses keys, until it moves", "[pace]") {
  Scene scene;
  scene.draw();
  ImGuiIO& io = ImGui::GetIO();
  const auto draw = [&] {
    for (int i = 0; i < 60; ++i) scene.draw();
    return Scene::words_are_seen();
  };
  io.AddMousePosEvent(scene.item.x + 30, scene.item.y + 10);
  CHECK(draw());
  // A modifier alone is held for the mouse.
  io.AddKeyEvent(ImGuiKey_LeftShift, true);
  CHECK(draw());
  io.AddKeyEvent(ImGuiKey_LeftShift, false);
  io.AddKeyEvent(ImGuiKey_RightArrow, true);
  scene.draw();
  io.AddKeyEvent(ImGuiKey_RightArrow, false);
  CHECK_FALSE(draw());
  io.AddMousePosEvent(scene.item.x + 32, scene.item.y + 10);
  CHECK(draw());
}
