#include "app/studio/guarded.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // for the recovery of its stacks

#include <array>
#include <utility>

#include "app/session/words.h"
#include "app/widgets/controls.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"

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

void draw_line(const std::string& words, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, style::colours().panel);
  ImGui::BeginChild("##problem", size);
  ImGui::PopStyleColor();
  {
    const style::TextStyle text(style::Text::caption, style::colours().alarm);
    const float indent = style::px(style::panel_gap + style::panel_padding);
    ImGui::SetCursorPos({indent, (size.y - ImGui::GetTextLineHeight()) / 2});
    ImGui::TextUnformatted(shortened(words, size.x - 2 * indent).c_str());
    tooltip(words);
  }
  ImGui::EndChild();
}

void draw_words(const std::string& headline, const std::string& problem, ImVec2 size) {
  if (style::begin_panel("##problem", size)) {
    {
      const style::TextStyle text(style::Text::strong, style::colours().alarm);
      ImGui::TextUnformatted(headline.c_str());
    }
    style::paragraph(problem);
    style::caption("The rest of the window works. This part comes back as soon as it can be drawn.");
  }
  style::end_panel();
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
  ImGui::PushID("problem");
  if (size.y < style::px(room_for_words))
    draw_line(fmt::format("{} cannot be drawn: {}", title, problem), size);
  else
    draw_words(fmt::format("{}: this part cannot be drawn", title), problem, size);
  ImGui::PopID();
  ImGui::End();
}

}  // namespace palimpsest
