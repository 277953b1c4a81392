#include "app/widgets/linked_text.h"

#include <imgui.h>

#include <algorithm>

#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float line_height = 21;  // as paragraphs have it, in design pixels

bool is_part_of_a_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

/// The name in a word, without the marks around it.
std::string_view name_in(std::string_view word) {
  const auto first = std::ranges::find_if(word, is_part_of_a_name);
  const auto last = std::find_if_not(first, word.end(), is_part_of_a_name);
  return word.substr(static_cast<std::size_t>(first - word.begin()), static_cast<std::size_t>(last - first));
}

/// An underlined name that can be pressed.
bool link(ImVec2 from, std::string_view name) {
  const ImVec2 size = text_extent(name);
  ImGui::SetCursorScreenPos(from);
  const bool pressed = ImGui::InvisibleButton(std::string(name).c_str(), size);
  const style::Palette& c = style::colours();
  const ImU32 colour = ImGui::IsItemHovered() || ImGui::IsItemFocused() ? c.text : c.accent;
  draw_text(from, colour, name);
  const float y = from.y + size.y - style::px(1);
  ImGui::GetWindowDrawList()->AddLine({from.x, y}, {from.x + size.x, y}, colour, style::px(1));
  return pressed;
}

}  // namespace

std::optional<std::string> linked_text(std::string_view text, std::span<const std::string> links) {
  std::optional<std::string> pressed;
  const ImU32 colour = ImGui::GetColorU32(ImGuiCol_Text);
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float line = style::px(line_height);
  const float space = text_extent(" ").x;
  ImVec2 at = begin;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    const float extent = text_extent(word).x;
    if (at.x > begin.x && at.x + extent > begin.x + width) at = {begin.x, at.y + line};
    const std::string_view name = name_in(word);
    const bool is_link = std::ranges::find(links, name) != links.end();
    if (is_link) {
      const std::string_view before = word.substr(0, static_cast<std::size_t>(name.data() - word.data()));
      const std::string_view after = word.substr(before.size() + name.size());
      draw_text(at, colour, before);
      const ImVec2 from = {at.x + text_extent(before).x, at.y};
      if (link(from, name)) pressed = std::string(name);
      draw_text({from.x + text_extent(name).x, at.y}, colour, after);
    } else {
      draw_text(at, colour, word);
    }
    at.x += extent + space;
    if (end < text.size() && text[end] == '\n') at = {begin.x, at.y + line};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  ImGui::SetCursorScreenPos(begin);
  ImGui::Dummy({width, at.y + line - begin.y});
  return pressed;
}

}  // namespace palimpsest
