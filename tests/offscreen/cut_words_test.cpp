// Cut words tell the whole of themselves to the pointer.

#include <imgui_internal.h>  // to see tooltips

#include <functional>

#include "app/widgets/text.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

constexpr const char* sentence = "Asked as at “The red jar holds a key”, it now answers “drum”.";

/// Whether something is told half a second after the pointer has come to `pointer`.
bool is_told(Offscreen& offscreen, ImVec2 pointer, const std::function<void()>& draw) {
  for (int frame = 0; frame < 30; ++frame) {
    offscreen.pass([&] {
      ImGui::GetIO().AddMousePosEvent(pointer.x, pointer.y);
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize({300, 200});
      ImGui::Begin("words", nullptr, ImGuiWindowFlags_NoDecoration);
      draw();
      ImGui::End();
      tell_cut_words();
    });
  }
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  return tip && tip->Active;
}

}  // namespace

TEST_CASE("what is cut is told whole where the pointer rests on it, and nothing else is", "[cut words]") {
  Offscreen offscreen(320, 240);
  const auto cut = [] { draw_text({20, 20}, IM_COL32_WHITE, shortened(sentence, 120)); };
  CHECK(is_told(offscreen, {60, 26}, cut));
  CHECK_FALSE(is_told(offscreen, {200, 26}, cut));
  CHECK_FALSE(is_told(offscreen, {60, 26}, [] {
    draw_text({20, 20}, IM_COL32_WHITE, shortened("drum", 120));
  }));
  // Words that only end so were not cut.
  CHECK_FALSE(is_told(offscreen, {60, 26}, [] {
    draw_text({20, 20}, IM_COL32_WHITE, "and so on and on …");
  }));
  CHECK(is_told(offscreen, {26, 90}, [] {
    draw_rising_text({20, 150}, IM_COL32_WHITE, shortened(sentence, 120));
  }));
}

TEST_CASE("cut words say nothing where something else is said", "[cut words]") {
  Offscreen offscreen(320, 240);
  int told = 0;
  CHECK(is_told(offscreen, {60, 26}, [&] {
    ImGui::SetCursorScreenPos({20, 16});
    ImGui::InvisibleButton("item", {200, 20});
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      ImGui::TextUnformatted("its own");
      ImGui::EndTooltip();
      ++told;
    }
    draw_text({20, 20}, IM_COL32_WHITE, shortened(sentence, 120));
  }));
  const ImGuiWindow* tip = ImGui::FindWindowByName("##Tooltip_00");
  CHECK(told > 10);
  CHECK(tip->ContentSize.y < 1.6F * ImGui::GetFontSize());  // one line: only its own
}
