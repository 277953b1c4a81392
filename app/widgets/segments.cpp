#include "app/widgets/segments.h"

#include <cmath>
#include <string_view>

#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest::style {

namespace {

constexpr float height = 26;
constexpr float rounding = 6;

std::string_view shown_part(std::string_view label) { return label.substr(0, label.find("##")); }

ImDrawFlags corners(SegmentPlace place) {
  ImDrawFlags flags = ImDrawFlags_RoundCornersNone;
  if (place.first) flags = ImDrawFlags_RoundCornersLeft;
  if (place.last) flags = place.first ? ImDrawFlags_RoundCornersAll : ImDrawFlags_RoundCornersRight;
  return flags;
}

}  // namespace

ImVec2 segment_size(const char* label, float padding) {
  const TextStyle text(Text::body);
  return {std::ceil(text_extent(shown_part(label)).x) + 2 * px(padding), px(height)};
}

bool segment_button(const char* label, bool selected, SegmentPlace place) {
  const ImVec2 size = segment_size(label, place.padding);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(label, size);
  const Palette& c = colours();
  const ImVec2 to = {from.x + size.x, from.y + size.y};
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  if (selected) {
    list->AddRectFilled(from, to, c.text, px(rounding), corners(place));
  } else if (hovered) {
    list->AddRectFilled(from, to, c.lit_ground(), px(rounding), corners(place));
  }
  list->AddRect(from, {to.x + (place.last ? 0 : px(line)), to.y}, c.edge, px(rounding), px(line),
                corners(place));
  const bool is_enabled = ImGui::GetStyle().Alpha > 0.99F;
  const TextStyle text(Text::body);
  const ImVec2 words = text_extent(shown_part(label));
  draw_text({from.x + px(place.padding), std::floor((from.y + to.y - words.y) / 2)},
            selected     ? c.background
            : is_enabled ? c.text
                         : c.faint,
            shown_part(label));
  return pressed;
}

}  // namespace palimpsest::style
