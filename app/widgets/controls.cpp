#include "app/widgets/controls.h"

#include <imgui_internal.h>  // to build buttons of our own
#include <imgui_stdlib.h>

#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest::style {

namespace {

constexpr float segment_rounding = 6;

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
  box = ImRect(window->DC.CursorPos, window->DC.CursorPos + size);
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

/// The colour of a button's text; `is_lit`: the pointer is on it.
ImU32 ink_of(const ButtonLook& look, bool is_lit, bool is_disabled) {
  const Palette& c = colours();
  const bool is_pill = look.shape == ButtonShape::pill;
  if (look.chosen && look.shape == ButtonShape::segment) return c.background;
  if (look.chosen && is_pill) return c.panel;
  if (is_disabled && !is_pill) return c.faint;
  if (look.shape == ButtonShape::segment) return c.text;
  if (is_lit || look.chosen) return is_pill && look.colour != 0 ? look.colour : c.text;
  return look.colour != 0 ? look.colour : c.dim;
}

ImDrawFlags corners(const ButtonLook& look) {
  if (look.shape == ButtonShape::pill || (look.first && look.last)) return ImDrawFlags_RoundCornersAll;
  return look.first  ? ImDrawFlags_RoundCornersLeft
         : look.last ? ImDrawFlags_RoundCornersRight
                     : ImDrawFlags_RoundCornersNone;
}

/// Of pills and segments: filled when chosen, and under the pointer.
void draw_outline(const ImRect& box, const ButtonLook& look, bool is_lit) {
  const Palette& c = colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool is_pill = look.shape == ButtonShape::pill;
  const float rounding = is_pill ? box.GetHeight() / 2 : px(segment_rounding);
  // A coloured text needs more contrast, so its background has less of the edge's colour.
  const ImU32 lit = is_pill ? mix(c.panel, c.edge, look.colour != 0 ? 0.25F : 0.5F) : c.lit_ground();
  if (look.chosen || is_lit)
    list->AddRectFilled(box.Min, box.Max,
                        !look.chosen                  ? lit
                        : is_pill && look.colour != 0 ? look.colour
                                                      : c.text,
                        rounding, corners(look));
  if (is_pill && look.chosen) return;
  list->AddRect(box.Min, {box.Max.x + (look.last ? 0 : px(line)), box.Max.y},
                look.colour != 0 ? look.colour : c.edge, rounding, px(line), corners(look));
}

/// Of links, and of the tab that is chosen.
void draw_underline(const ImRect& box, const ButtonLook& look, bool is_disabled) {
  const Palette& c = colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (look.shape == ButtonShape::tab && look.chosen)
    list->AddRectFilled({box.Min.x, box.Max.y - px(lit_line)}, box.Max, c.text);
  if (look.shape != ButtonShape::link) return;
  const float y = std::round((box.Min.y + box.Max.y + text_extent("x").y) / 2) - px(1);
  list->AddLine({box.Min.x, y}, {box.Max.x, y},
                is_disabled        ? c.edge
                : look.colour != 0 ? look.colour
                                   : c.faint,
                px(1));
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

void end_scrolling() {
  constexpr float fading = 24;  // design pixels
  const ImU32 paper = colours().panel;
  const ImU32 none = with_alpha(paper, 0);
  const ImVec2 from = ImGui::GetWindowPos();
  const ImVec2 to = {from.x + ImGui::GetWindowWidth(), from.y + ImGui::GetWindowHeight()};
  const float inset = px(corner);  // what lies beyond is outside of a rounded corner
  const bool scrolls = ImGui::GetCurrentWindow()->ScrollbarY;
  const float bar = scrolls ? ImGui::GetStyle().ScrollbarSize : 0;
  const float left = from.x + inset;
  const float right = to.x - std::max(inset, bar);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (scrolls && ImGui::GetScrollY() > 1)
    list->AddRectFilledMultiColor({left, from.y + 1}, {right, from.y + px(fading)}, paper, paper, none, none);
  if (scrolls && ImGui::GetScrollY() < ImGui::GetScrollMaxY() - 1)
    list->AddRectFilledMultiColor({left, to.y - px(fading)}, {right, to.y - 1}, none, none, paper, paper);
  ImGui::EndChild();
}

void end_panel() { end_scrolling(); }

void spinner(ImVec2 middle, ImU32 colour) {
  const float turn = static_cast<float>(std::fmod(ImGui::GetTime() * 6, 2 * 3.14159265));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PathArcTo(middle, px(5), turn, turn + 4.2F, 16);
  list->PathStroke(colour, px(2));
}

ButtonSize button_size(ButtonShape shape) {
  // In the order of ButtonShape.
  static constexpr ButtonSize all[] = {{Text::body, 14, 28},
                                       {Text::body, 12, 26},
                                       {Text::body, 0, 28},
                                       {Text::caption, 0, 20},
                                       {Text::caption, 0, 20}};
  static_assert(std::size(all) == static_cast<std::size_t>(ButtonShape::link) + 1);
  return entry(all, shape);
}

bool button(const char* label, const ButtonLook& look) {
  const auto [text, padding, height] = button_size(look.shape);
  const TextStyle style(text);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_extent(words);
  const float natural = std::ceil(extent.x) + 2 * px(padding);
  const ImVec2 size = {look.width > 0 ? look.width : natural, px(height)};
  const bool has_outline = look.shape == ButtonShape::pill || look.shape == ButtonShape::segment;
  ImRect box;
  const Press pressed = press(label, size, has_outline ? size.y / 2 : 0, box);
  const bool is_lit = pressed.hovered || (look.shape == ButtonShape::segment && ImGui::IsItemFocused());
  const bool is_disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  if (has_outline) draw_outline(box, look, is_lit);
  draw_text({box.Min.x + (size.x - extent.x) / 2, box.Min.y + (size.y - extent.y) / 2},
            ink_of(look, is_lit, is_disabled), words);
  draw_underline(box, look, is_disabled);
  return pressed.pressed;
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
        return arrow(-0.55F, -1);
      case Icon::back:
        return arrow(-0.85F, -1);
      case Icon::play:
        return list->AddTriangleFilled(at(-0.85F, -1.2F), at(1.2F, 0), at(-0.85F, 1.2F), colour);
      case Icon::pause:
        box(-0.9F, -1.1F, -0.25F, 1.1F);
        return box(0.25F, -1.1F, 0.9F, 1.1F);
      case Icon::forwards:
        return arrow(0.85F, 1);
      case Icon::to_end:
        arrow(0.55F, 1);
        return box(0.7F, -1, 1, 1);
      case Icon::mark_back:
        arrow(-1.4F, -1);
        return flag(0.5F);
      case Icon::mark_forward:
        flag(-1.3F);
        return arrow(1.4F, 1);
      case Icon::minus:
        return stroke(at(-0.8F, 0), at(0.8F, 0));
      case Icon::plus:
        stroke(at(-0.8F, 0), at(0.8F, 0));
        return stroke(at(0, -0.8F), at(0, 0.8F));
      case Icon::close:
        stroke(at(-0.7F, -0.7F), at(0.7F, 0.7F));
        return stroke(at(-0.7F, 0.7F), at(0.7F, -0.7F));
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

void FilterBox::take_early_words() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl && !io.KeyAlt) return;  // a command, no text
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
      data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;  // go on at the end
    return 0;
  };
  moved = 0;
  const bool appears = ImGui::IsWindowAppearing();
  const bool waits = !appears && !is_active_ && !ImGui::IsAnyItemActive();
  const std::size_t before = typed.size();
  // The letter of the key that opened the window arrives in the frame in which the window appears.
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
