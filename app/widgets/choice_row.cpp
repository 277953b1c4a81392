#include "app/widgets/choice_row.h"

#include <imgui.h>

#include <string>

#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

ImVec2 wrapped_extent(std::string_view words, float width) {
  const style::TextStyle style(style::Text::caption);
  return ImGui::CalcTextSize(words.data(), words.data() + words.size(), false, width);
}

}  // namespace

bool choice_row(const char* name, std::string_view words, bool selected, float width) {
  const style::Palette& c = style::colours();
  const ImVec2 padding = {style::px(12), style::px(6)};
  const float wrap = width - 2 * padding.x;
  const float name_height = style::px(20);
  const float words_height = words.empty() ? 0 : wrapped_extent(words, wrap).y + style::px(2);
  const ImVec2 size = {width, 2 * padding.y + name_height + words_height};
  const bool pressed = ImGui::InvisibleButton(name, size);
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  const ImVec2 from = ImGui::GetItemRectMin();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (hovered || selected) {
    list->AddRectFilled(from, ImGui::GetItemRectMax(), style::mix(c.panel, c.edge, hovered ? 0.8F : 0.45F),
                        style::px(6));
  }
  const std::string_view label = name;
  {
    const style::TextStyle style(selected ? style::Text::strong : style::Text::body);
    draw_text({from.x + padding.x, from.y + padding.y}, c.text,
              shortened(label.substr(0, label.find("##")), wrap));
  }
  const style::TextStyle style(style::Text::caption);
  list->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                {from.x + padding.x, from.y + padding.y + name_height}, c.dim, words.data(),
                words.data() + words.size(), wrap);
  return pressed;
}

}  // namespace palimpsest
