#include "app/widgets/controls.h"

#include <imgui.h>
#include <imgui_internal.h>  // to build buttons of our own

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "app/widgets/text.h"

namespace palimpsest::style {

namespace {

constexpr float pill_height = 28;
constexpr float pill_padding = 14;

// The part of a label that is shown.
std::string_view shown_part(std::string_view label) { return label.substr(0, label.find("##")); }

struct Press {
  bool pressed = false;
  bool hovered = false;
};

// An item at the cursor that can be pressed and draws nothing but the keyboard's focus.
Press press(const char* label, ImVec2 size, float rounding, ImRect& box) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImGuiID id = window->GetID(label);
  box = ImRect(window->DC.CursorPos, {window->DC.CursorPos.x + size.x, window->DC.CursorPos.y + size.y});
  ImGui::ItemSize(box);
  if (!ImGui::ItemAdd(box, id)) return {};
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro wants
  Press result;
  bool held = false;
  result.pressed = ImGui::ButtonBehavior(box, id, &result.hovered, &held);
  ImGui::RenderNavCursor(box, id, ImGuiNavRenderCursorFlags_None, rounding);
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, g.LastItemData.StatusFlags);
  return result;
}

}  // namespace

bool begin_panel(const char* name, ImVec2 size, ImGuiWindowFlags flags, float padding) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(padding), px(padding)));
  const bool visible =
      ImGui::BeginChild(name, size, ImGuiChildFlags_Borders | ImGuiChildFlags_AlwaysUseWindowPadding, flags);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  return visible;
}

void end_panel() { ImGui::EndChild(); }

bool pill_button(const char* label, bool selected, ImU32 colour, float width) {
  const Palette& c = colours();
  const TextStyle style(Text::body);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_extent(words);
  const float natural = std::ceil(extent.x) + 2 * px(pill_padding);
  const ImVec2 size = {width > 0 ? width : natural, px(pill_height)};
  const float rounding = size.y / 2;
  ImRect box;
  const Press state = press(label, size, rounding, box);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 bright = colour != 0 ? colour : c.text;
  const ImU32 quiet = colour != 0 ? colour : c.dim;
  if (selected) {
    list->AddRectFilled(box.Min, box.Max, bright, rounding);
  } else {
    if (state.hovered) {
      // Its own colour stands on less of the edge's than the text's can.
      list->AddRectFilled(box.Min, box.Max, mix(c.panel, c.edge, colour != 0 ? 0.25F : 0.5F), rounding);
    }
    list->AddRect(box.Min, box.Max, colour != 0 ? colour : c.edge, rounding, px(line));
  }
  draw_text({box.Min.x + (size.x - extent.x) / 2, box.Min.y + (size.y - extent.y) / 2},
            selected        ? c.panel
            : state.hovered ? bright
                            : quiet,
            words);
  return state.pressed;
}

void spinner(ImVec2 middle, ImU32 colour) {
  const float turn = static_cast<float>(std::fmod(ImGui::GetTime() * 6, 2 * 3.14159265));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PathArcTo(middle, px(5), turn, turn + 4.2F, 16);
  list->PathStroke(colour, px(2));
}

bool tab_button(const char* label, bool selected) {
  const Palette& c = colours();
  const TextStyle style(Text::body);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_extent(words);
  ImRect box;
  const Press state = press(label, {std::ceil(extent.x), px(pill_height)}, 0, box);
  const bool is_disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  draw_text({box.Min.x, box.Min.y + (px(pill_height) - extent.y) / 2},
            is_disabled                 ? c.faint
            : selected || state.hovered ? c.text
                                        : c.dim,
            words);
  if (selected) {
    ImGui::GetWindowDrawList()->AddRectFilled({box.Min.x, box.Max.y - px(lit_line)}, box.Max, c.text);
  }
  return state.pressed;
}

bool word_button(const char* label, float design_height, ImU32 colour) {
  const Palette& c = colours();
  const TextStyle style(Text::caption);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_extent(words);
  const ImVec2 size = {std::ceil(extent.x), px(design_height)};
  const bool pressed = ImGui::InvisibleButton(label, size);
  const ImVec2 from = ImGui::GetItemRectMin();
  const bool is_disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  const ImU32 usual = colour != 0 ? colour : c.dim;
  const ImU32 ink = is_disabled ? c.faint : ImGui::IsItemHovered() ? c.text : usual;
  draw_text({from.x, from.y + (size.y - extent.y) / 2}, ink, words);
  return pressed;
}

bool link_button(const char* label, float design_height, ImU32 colour) {
  const bool pressed = word_button(label, design_height, colour);
  const Palette& c = colours();
  const ImVec2 from = ImGui::GetItemRectMin();
  const ImVec2 to = ImGui::GetItemRectMax();
  const float y = std::round((from.y + to.y + text_extent("x").y) / 2) - px(1);
  const bool is_disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  ImGui::GetWindowDrawList()->AddLine({from.x, y}, {to.x, y},
                                      is_disabled   ? c.edge
                                      : colour != 0 ? colour
                                                    : c.faint,
                                      px(1));
  return pressed;
}

void key_hint(const char* key) {
  const Palette& c = colours();
  const TextStyle style(Text::caption);
  const ImVec2 extent = text_extent(key);
  const ImVec2 size(std::ceil(extent.x) + 2 * px(6), px(20));
  const float line_height = std::max(ImGui::GetCurrentWindow()->DC.CurrLineSize.y, size.y);
  ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy({size.x, line_height});
  from.y += std::floor((line_height - size.y) / 2);
  ImGui::GetWindowDrawList()->AddRect(from, {from.x + size.x, from.y + size.y}, c.edge, px(4), px(line));
  draw_text({from.x + px(6), from.y + (size.y - extent.y) / 2}, c.dim, key);
}

namespace {

constexpr float height = 26;
constexpr float rounding = 6;

ImDrawFlags corners(SegmentPlace place) {
  ImDrawFlags flags = ImDrawFlags_RoundCornersNone;
  if (place.first) flags = ImDrawFlags_RoundCornersLeft;
  if (place.last) flags = place.first ? ImDrawFlags_RoundCornersAll : ImDrawFlags_RoundCornersRight;
  return flags;
}

}  // namespace

bool segment_button(const char* label, bool selected, SegmentPlace place) {
  const TextStyle text(Text::body);
  const ImVec2 words = text_extent(shown_part(label));
  const ImVec2 size = {ImGui::CalcItemWidth(), px(height)};
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
  draw_text({(from.x + to.x - words.x) / 2, std::floor((from.y + to.y - words.y) / 2)},
            selected     ? c.background
            : is_enabled ? c.text
                         : c.faint,
            shown_part(label));
  return pressed;
}

}  // namespace palimpsest::style

namespace palimpsest {

namespace {

/// Draws into a square around `middle`, `half` to each side.
struct Pen {
  ImDrawList* list;
  ImVec2 middle;
  float half;
  ImU32 colour;

  ImVec2 at(float x, float y) const { return {middle.x + x * half, middle.y + y * half}; }

  void box(float left, float top, float right, float bottom) const {
    list->AddRectFilled(at(left, top), at(right, bottom), colour);
  }

  /// A triangle with its point at `tip`; direction 1 points to the right.
  void arrow(float tip, float direction) const {
    const float base = tip - direction * 1.5F;
    list->AddTriangleFilled(at(base, -1), at(tip, 0), at(base, 1), colour);
  }

  /// A flag on a pole at `x`.
  void flag(float x) const {
    box(x, -1.1F, x + 0.2F, 1.1F);
    list->AddTriangleFilled(at(x, -1.1F), at(x + 0.8F, -0.6F), at(x, -0.1F), colour);
  }

  void stroke(ImVec2 from, ImVec2 to) const { list->AddLine(from, to, colour, std::max(1.0F, half * 0.3F)); }

  void draw(Icon icon) const {
    switch (icon) {
      case Icon::to_start:
        box(-1, -1, -0.7F, 1);
        arrow(-0.55F, -1);
        break;
      case Icon::back:
        arrow(-0.85F, -1);
        break;
      case Icon::play:
        list->AddTriangleFilled(at(-0.85F, -1.2F), at(1.2F, 0), at(-0.85F, 1.2F), colour);
        break;
      case Icon::pause:
        box(-0.9F, -1.1F, -0.25F, 1.1F);
        box(0.25F, -1.1F, 0.9F, 1.1F);
        break;
      case Icon::forwards:
        arrow(0.85F, 1);
        break;
      case Icon::to_end:
        arrow(0.55F, 1);
        box(0.7F, -1, 1, 1);
        break;
      case Icon::mark_back:
        arrow(-1.4F, -1);
        flag(0.5F);
        break;
      case Icon::mark_forward:
        flag(-1.3F);
        arrow(1.4F, 1);
        break;
      case Icon::minus:
        stroke(at(-0.8F, 0), at(0.8F, 0));
        break;
      case Icon::plus:
        stroke(at(-0.8F, 0), at(0.8F, 0));
        stroke(at(0, -0.8F), at(0, 0.8F));
        break;
      case Icon::close:
        stroke(at(-0.7F, -0.7F), at(0.7F, 0.7F));
        stroke(at(-0.7F, 0.7F), at(0.7F, -0.7F));
        break;
    }
  }
};

}  // namespace

bool icon_button(const char* label, Icon icon, float design_size) {
  const float side = style::px(design_size);
  const bool pressed = ImGui::InvisibleButton(label, {side, side});
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 corner = ImGui::GetItemRectMin();
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (hovered)
    list->AddRectFilled(corner, ImGui::GetItemRectMax(), style::mix(c.panel, c.edge, 0.7F), style::px(6));
  const float half = std::round(side / 2);
  Pen{list,
      {corner.x + half, corner.y + half},
      std::round(side * 0.24F),
      hovered ? c.text : style::mix(c.dim, c.text, 0.6F)}
      .draw(icon);
  return pressed;
}

}  // namespace palimpsest
