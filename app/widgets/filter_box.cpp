#include "app/widgets/filter_box.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <utility>

#include "core/base/text.h"

namespace palimpsest {

namespace {

/// Whether letters come with Ctrl held: no words then.
bool is_chord(const ImGuiIO& io) { return io.KeyCtrl && !io.KeyAlt; }

}  // namespace

void FilterBox::take_early_words() {
  const ImGuiIO& io = ImGui::GetIO();
  if (is_chord(io)) return;
  constexpr ImWchar first_letter = 32;
  constexpr ImWchar erasing = 127;
  for (const ImWchar letter : io.InputQueueCharacters) {
    if (letter < first_letter || letter == erasing) continue;
    append_utf8(typed, static_cast<char32_t>(letter));
    took_words_ = true;
  }
}

bool FilterBox::draw(const char* hint, float width, bool takes_keyboard) {
  const auto follow = [](ImGuiInputTextCallbackData* data) {
    auto& box = *static_cast<FilterBox*>(data->UserData);
    if (data->EventFlag == ImGuiInputTextFlags_CallbackHistory)
      box.moved += data->EventKey == ImGuiKey_DownArrow ? 1 : -1;
    else if (std::exchange(box.took_words_, false))
      data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;  // it goes on there
    return 0;
  };
  moved = 0;
  const bool appears = ImGui::IsWindowAppearing();
  const bool waits = !appears && !is_active_ && !ImGui::IsAnyItemActive();
  const std::size_t before = typed.size();
  // The letter of the key that opened the window comes in the frame in which that appears.
  if (waits) take_early_words();
  const bool took_words = typed.size() != before;
  ImGui::SetNextItemWidth(width);
  if (appears || std::exchange(was_entered, false) || (takes_keyboard && waits))
    ImGui::SetKeyboardFocusHere();
  const bool entered =
      ImGui::InputTextWithHint("##filter", hint, &typed,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory |
                                   ImGuiInputTextFlags_CallbackAlways,
                               follow, this);
  is_active_ = ImGui::IsItemActive();
  changed = ImGui::IsItemEdited() || took_words;
  was_entered = entered;  // Enter takes the keyboard away
  return entered;
}

}  // namespace palimpsest
