#include "app/widgets/segment.h"

#include <imgui.h>

#include <string_view>

#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest::style {

namespace {

constexpr float padding = 10;
constexpr float rounding = 6;

std::string_view shown_part(std::string_view label) { return label.substr(0, label.find("##")); }

}  // namespace

SegmentEnd segment_end(int index, int count) {
  if (count == 1) return SegmentEnd::both;
  if (index == 0) return SegmentEnd::first;
  return index == count - 1 ? SegmentEnd::last : SegmentEnd::none;
}

float segment_width(const char* label) {
  const TextStyle style(Text::caption);
  return std::ceil(text_extent(shown_part(label)).x) + 2 * px(padding);
}

bool segment(const char* label, bool selected, SegmentEnd end, float design_height, float width) {
  const Palette& c = colours();
  const ImVec2 size = {width > 0 ? width : segment_width(label), px(design_height)};
  const bool pressed = ImGui::InvisibleButton(label, size);
  const bool lit = ImGui::IsItemHovered();
  const ImVec2 from = ImGui::GetItemRectMin();
  const ImVec2 to = ImGui::GetItemRectMax();
  const bool left = end == SegmentEnd::first || end == SegmentEnd::both;
  const bool right = end == SegmentEnd::last || end == SegmentEnd::both;
  const ImDrawFlags corners = left && right ? ImDrawFlags_RoundCornersAll
                              : left        ? ImDrawFlags_RoundCornersLeft
                              : right       ? ImDrawFlags_RoundCornersRight
                                            : ImDrawFlags_RoundCornersNone;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (selected || lit)
    list->AddRectFilled(from, to, selected ? c.text : mix(c.panel, c.edge, 0.6F), px(rounding), corners);
  // Neighbours share the line between them.
  const ImVec2 outline = {right ? to.x : to.x + px(line), to.y};
  list->AddRect(from, outline, c.edge, px(rounding), px(line), corners);
  const TextStyle style(Text::caption);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_extent(words);
  draw_text({from.x + (size.x - extent.x) / 2, from.y + (size.y - extent.y) / 2},
            selected ? c.panel
            : lit    ? c.text
                     : c.dim,
            words);
  return pressed;
}

}  // namespace palimpsest::style
