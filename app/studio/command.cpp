#include "app/studio/command.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "app/scene/node.h"
#include "app/studio/application.h"
#include "app/widgets/text.h"

namespace palimpsest {

const Command& find_command(const Application& application, std::string_view id) {
  const auto table = application.commands();
  const auto found = std::ranges::find(table, id, &Command::id);
  if (found == table.end()) throw std::logic_error(fmt::format("there is no command \"{}\"", id));
  return *found;
}

std::string why_not(const Command& command, const Application& application) {
  return command.why_not ? command.why_not(application) : std::string();
}

void perform(const Command& command, Application& application) {
  application.notice.clear();
  application.refusal.clear();
  if (const std::string reason = why_not(command, application); !reason.empty())
    application.refusal = fmt::format("{}: {}", command.words, reason);
  else
    command.perform(application);
}

std::string key_name(int chord) {
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  std::string name;
  if ((chord & ImGuiMod_Ctrl) != 0) name += "Ctrl+";
  if (key == ImGuiKey_Slash && (chord & ImGuiMod_Shift) != 0) return name + "?";
  if ((chord & ImGuiMod_Shift) != 0) name += "Shift+";
  static constexpr std::pair<ImGuiKey, const char*> signs[] = {
      {ImGuiKey_None, ""},          {ImGuiKey_LeftArrow, "←"}, {ImGuiKey_RightArrow, "→"},
      {ImGuiKey_UpArrow, "↑"},      {ImGuiKey_DownArrow, "↓"}, {ImGuiKey_LeftBracket, "["},
      {ImGuiKey_RightBracket, "]"}, {ImGuiKey_Equal, "="},     {ImGuiKey_Minus, "-"},
      {ImGuiKey_Comma, ","},        {ImGuiKey_Period, "."},    {ImGuiKey_Escape, "Esc"}};
  const auto sign = std::ranges::find(signs, key, &std::pair<ImGuiKey, const char*>::first);
  return name + (sign == std::end(signs) ? ImGui::GetKeyName(key) : sign->second);
}

void handle_keys(Application& application) {
  const ImGuiIO& io = ImGui::GetIO();
  // A list or a card that is open has the keys to itself.
  if (io.WantTextInput || ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) return;
  for (const Command& command : application.commands()) {
    if (command.key == 0) continue;
    const ImGuiInputFlags held = command.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
    if (ImGui::Shortcut(command.key, ImGuiInputFlags_RouteGlobal | held)) perform(command, application);
  }
  // A question mark that the layout types without Shift+/ opens the help as well.
  for (const ImWchar character : io.InputQueueCharacters) {
    if (character == '?' && !ImGui::IsKeyChordPressed(ImGuiMod_Shift | ImGuiKey_Slash))
      application.show_keys = true;
  }
}

void command_button(Application& application, std::string_view id, const std::function<bool()>& draw) {
  const Command& command = find_command(application, id);
  const std::string reason = why_not(command, application);
  ImGui::BeginDisabled(!reason.empty());
  const bool pressed = draw();
  ImGui::EndDisabled();
  if (!reason.empty()) {
    tooltip(reason);
  } else if (wants_tooltip()) {
    const std::string& words = command.explained.empty() ? command.words : command.explained;
    if (command.key != 0)
      tooltip(words, key_name(command.key));
    else
      tooltip(words);
  }
  if (pressed) perform(command, application);
}

scene::Node with_command(Application& application, std::string_view id, scene::Node node) {
  const Command& command = find_command(application, id);
  const std::string reason = why_not(command, application);
  node.enabled = reason.empty();
  node.tip = !reason.empty() ? reason : command.explained.empty() ? command.words : command.explained;
  if (reason.empty()) node.key = key_name(command.key);
  node.act = [&application, &command] { perform(command, application); };
  return node;
}

}  // namespace palimpsest
