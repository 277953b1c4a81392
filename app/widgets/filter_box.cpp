#include "app/widgets/filter_box.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <utility>

namespace palimpsest {

bool FilterBox::draw(const char* hint, float width) {
  const auto move = [](ImGuiInputTextCallbackData* data) {
    static_cast<FilterBox*>(data->UserData)->moved += data->EventKey == ImGuiKey_DownArrow ? 1 : -1;
    return 0;
  };
  moved = 0;
  ImGui::SetNextItemWidth(width);
  if (ImGui::IsWindowAppearing() || std::exchange(was_entered, false)) ImGui::SetKeyboardFocusHere();
  const bool entered = ImGui::InputTextWithHint(
      "##filter", hint, &typed, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory,
      move, this);
  changed = ImGui::IsItemEdited();
  was_entered = entered;  // Enter takes the keyboard away
  return entered;
}

}  // namespace palimpsest
