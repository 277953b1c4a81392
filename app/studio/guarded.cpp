#include "app/studio/guarded.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // for the recovery of its stacks

#include <array>
#include <utility>

#include "app/scene/draw.h"
#include "app/session/words.h"
#include "app/widgets/controls.h"

namespace palimpsest {
namespace {

constexpr float room_for_words = 64;  // design pixels; what is lower has one line

// Ends what was begun and pops what was pushed since `before`, without Dear ImGui's complaints about it.
void put_back(const ImGuiErrorRecoveryState& before) {
  ImGuiIO& io = ImGui::GetIO();
  const std::array complaints = {&io.ConfigErrorRecoveryEnableAssert, &io.ConfigErrorRecoveryEnableDebugLog,
                                 &io.ConfigErrorRecoveryEnableTooltip};
  std::array<bool, complaints.size()> usual{};
  for (std::size_t i = 0; i < usual.size(); ++i) usual[i] = std::exchange(*complaints[i], false);
  ImGui::ErrorRecoveryTryToRecoverState(&before);
  for (std::size_t i = 0; i < usual.size(); ++i) *complaints[i] = usual[i];
}

}  // namespace

std::string guarded(const std::function<void()>& draw) {
  ImGuiErrorRecoveryState before;
  ImGui::ErrorRecoveryStoreState(&before);
  try {
    draw();
    return {};
  } catch (...) {
    put_back(before);
    return problem_in_words();
  }
}

void draw_problem(const char* title, const std::string& problem) {
  ImGui::Begin(title);
  ImGui::SetCursorPos({0, 0});
  const ImVec2 size = ImGui::GetWindowSize();
  const style::Palette& c = style::colours();
  const bool is_low = size.y < style::px(room_for_words);
  ImGui::PushID("problem");
  if (style::begin_panel("##problem", size, 0, is_low ? 4 : style::panel_padding)) {
    if (is_low)
      scene::show(scene::note(fmt::format("{} cannot be drawn: {}", title, problem), c.alarm).told(problem));
    else
      scene::show(scene::column(
          {scene::text(fmt::format("{}: this part cannot be drawn", title), style::Text::strong, c.alarm),
           scene::paragraph(problem),
           scene::caption(
               "The rest of the window works. This part comes back as soon as it can be drawn.")}));
  }
  style::end_panel();
  ImGui::PopID();
  ImGui::End();
}

}  // namespace palimpsest
