#include "app/widgets/controls.h"

#include <imgui_internal.h>  // to build buttons of our own
#include <imgui_stdlib.h>

#include "app/gl/context_local.h"
#include "app/widgets/text.h"

namespace palimpsest::style {

namespace {

constexpr float segment_rounding = 6;
constexpr float slider_height = 40;
constexpr float track_height = 4;
constexpr float knob_radius = 7;

// The part of a label that is shown.
std::string_view shown_part(std::string_view label) { return label.substr(0, label.find("##")); }

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

struct Noted {
  int frame = -1;
  std::vector<DrawnSlider> now;
  std::vector<DrawnSlider> before;
  ImGuiID sought = 0;
};

/// The sliders noted in this frame.
Noted& noted() {
  auto& all = context_local<Noted>();
  if (const int frame = ImGui::GetFrameCount(); all.frame != frame) {
    all.before = all.frame == frame - 1 ? std::move(all.now) : std::vector<DrawnSlider>();
    all.now.clear();
    all.frame = frame;
  }
  return all;
}

/// A number as the format writes it.
std::string written(double value, const char* format) {
  std::array<char, 64> shown{};
  ImGui::DataTypeFormatString(shown.data(), static_cast<int>(shown.size()), ImGuiDataType_Double, &value,
                              format);
  return shown.data();
}

// Drags the logarithm of the value. (Dear ImGui's own logarithmic sliders treat a value that their format
// rounds to 0 as 0.)
bool drag_logarithm(const ImRect& track, ImGuiID id, double* value, const SliderLook& look, ImRect& grab) {
  const double from = std::log(look.minimum);
  const double to = std::log(look.maximum);
  double at = std::log(std::clamp(*value, look.minimum, look.maximum));
  if (!ImGui::SliderBehavior(track, id, ImGuiDataType_Double, &at, &from, &to, "%.2f",
                             ImGuiSliderFlags_NoRoundToFormat, &grab)) {
    return false;
  }
  // Rounded as shown, so that the user can type the same number.
  const double before = *value;
  ImGui::DataTypeApplyFromText(written(std::exp(at), look.format).c_str(), ImGuiDataType_Double, value,
                               look.format);
  *value = std::clamp(*value, look.minimum, look.maximum);
  return *value != before;
}

// Symbol and words from the left, the number from the right, all on one baseline.
void draw_slider_label(const ImRect& box, const char* symbol, std::string_view words, std::string_view number,
                       ImU32 role, bool enabled) {
  const Palette& c = colours();
  const auto ink = [&](ImU32 colour) { return enabled ? colour : c.faint; };
  const float number_width = text_extent(Text::number_small, number).x;
  float baseline = 0;
  {
    float x = box.Min.x;
    const TextStyle text(Text::body);
    baseline = std::round(box.Min.y + ImGui::GetFontBaked()->Ascent);
    if (*symbol != '\0') {
      x += draw_formula(ImGui::GetWindowDrawList(), {x, baseline}, symbol, px(formula_label), ink(role))
               .width +
           px(8);
    }
    draw_text({x, box.Min.y}, ink(c.dim), shortened(words, box.Max.x - number_width - px(8) - x));
  }
  const TextStyle text(Text::number_small);
  draw_text({box.Max.x - number_width, baseline - ImGui::GetFontBaked()->Ascent}, ink(c.text), number);
}

// Shows the ends of a slider while a number beyond them is typed.
void say_ends(const SliderLook& look, double present, ImGuiID id, ImVec2 below) {
  const ImGuiInputTextState* text = ImGui::GetInputTextState(id);
  if (text == nullptr) return;
  ImGui::DataTypeApplyFromText(text->TextA.Data, ImGuiDataType_Double, &present, look.format);
  if (present >= look.minimum && present <= look.maximum) return;
  ImGui::SetNextWindowPos(below);
  ImGui::SetTooltip("from %s to %s", written(look.minimum, look.format).c_str(),
                    written(look.maximum, look.format).c_str());
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

void end_panel() {
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

void spinner(ImVec2 middle, ImU32 colour) {
  const float turn = static_cast<float>(std::fmod(ImGui::GetTime() * 6, 2 * 3.14159265));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PathArcTo(middle, px(5), turn, turn + 4.2F, 16);
  list->PathStroke(colour, px(2));
}

ButtonSize button_size(ButtonShape shape) {
  // In the order of ButtonShape.
  static constexpr ButtonSize all[] = {{Text::body, 14, 28},   {Text::body, 12, 26},   {Text::body, 0, 28},
                                       {Text::caption, 0, 20}, {Text::caption, 0, 20}, {Text::strong, 0, 20}};
  static_assert(std::size(all) == static_cast<std::size_t>(ButtonShape::line) + 1);
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
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImGuiID id = window->GetID(label);
  const ImRect box(window->DC.CursorPos, window->DC.CursorPos + size);
  ImGui::ItemSize(box);
  if (!ImGui::ItemAdd(box, id)) return false;
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro wants
  bool is_hovered = false;
  bool is_held = false;
  const bool is_pressed = ImGui::ButtonBehavior(box, id, &is_hovered, &is_held);
  ImGui::RenderNavCursor(box, id, ImGuiNavRenderCursorFlags_None, has_outline ? size.y / 2 : 0);
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, g.LastItemData.StatusFlags);
  const bool is_lit = is_hovered || (look.shape == ButtonShape::segment && ImGui::IsItemFocused());
  const bool is_disabled = (g.CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  if (has_outline) draw_outline(box, look, is_lit);
  draw_text({box.Min.x + (size.x - extent.x) / 2, box.Min.y + (size.y - extent.y) / 2},
            ink_of(look, is_lit, is_disabled), words);
  draw_underline(box, look, is_disabled);
  return is_pressed;
}

bool slider(const char* symbol, const char* words, double* value, const SliderLook& look) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->SkipItems) return false;
  const std::string_view label = shown_part(words);
  const ImGuiID id = window->GetID(words);
  const ImRect box(window->DC.CursorPos, {window->DC.CursorPos.x + ImGui::CalcItemWidth(),
                                          window->DC.CursorPos.y + px(slider_height)});
  ImGui::ItemSize(box);
  noted().now.push_back({symbol, std::string(label), id});
  if (id == noted().sought && std::exchange(noted().sought, 0) != 0) ImGui::SetKeyboardFocusHere();
  if (!ImGui::ItemAdd(box, id, nullptr, ImGuiItemFlags_Inputable)) return false;
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro wants
  IMGUI_TEST_ENGINE_ITEM_INFO(id, words, g.LastItemData.StatusFlags | ImGuiItemStatusFlags_Inputable);

  const bool enabled = (g.CurrentItemFlags & ImGuiItemFlags_Disabled) == 0;
  const bool hovered = ImGui::ItemHoverable(box, id, g.LastItemData.ItemFlags);
  bool typing = ImGui::TempInputIsActive(id);
  bool changed = false;
  if (!typing) {
    const bool clicked = hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left, ImGuiInputFlags_None, id);
    const bool focused = g.NavActivateId == id;
    if (clicked && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      changed = *value != look.reset;
      *value = look.reset;
      ImGui::ClearActiveID();
    } else if (clicked || focused) {
      typing = (clicked && g.IO.KeyCtrl) ||
               (focused && (g.NavActivateFlags & ImGuiActivateFlags_PreferInput) != 0);
      if (clicked) ImGui::SetKeyOwner(ImGuiKey_MouseLeft, id);
      if (!typing) {
        ImGui::SetActiveID(id, window);
        ImGui::SetFocusID(id, window);
        ImGui::FocusWindow(window);
        g.ActiveIdUsingNavDirMask |= 1 << ImGuiDir_Left | 1 << ImGuiDir_Right;
      }
    }
  }
  if (typing) {
    // Dear ImGui writes the label right of the box, where its first letter would show: clip it.
    ImGui::PushClipRect(box.Min, box.Max, true);
    double number = *value;
    const bool typed = ImGui::TempInputScalar(box, id, words, ImGuiDataType_Double, &number, look.format);
    ImGui::PopClipRect();
    say_ends(look, *value, id, {box.Min.x, box.Max.y});
    if (!typed || std::isnan(number)) return false;
    const double before = std::exchange(*value, std::clamp(number, look.minimum, look.maximum));
    return *value != before;
  }

  const ImRect track(box.Min.x, box.Max.y - px(2 * knob_radius), box.Max.x, box.Max.y);
  ImRect grab;
  if (look.logarithmic ? drag_logarithm(track, id, value, look, grab)
                       : ImGui::SliderBehavior(track, id, ImGuiDataType_Double, value, &look.minimum,
                                               &look.maximum, look.format, ImGuiSliderFlags_None, &grab)) {
    changed = true;
  }
  if (changed) ImGui::MarkItemEdited(id);

  const Palette& c = colours();
  const ImU32 role = look.role == Role::plain ? c.dim : c.role(look.role);
  const std::string number = written(*value, look.format);
  draw_slider_label(box, symbol, label, look.shown.empty() ? number : look.shown, role, enabled);

  ImDrawList* list = window->DrawList;
  const ImU32 ink = mix(c.panel, role, enabled ? 1.0F : g.Style.DisabledAlpha);
  const float radius = px(knob_radius);
  const float half = px(track_height) / 2;
  // Dear ImGui's grab keeps half its width from the ends of the track; the knob is at the same fraction.
  const float way = track.GetWidth() - grab.GetWidth();
  const float part = way > 0 ? (grab.GetCenter().x - track.Min.x - grab.GetWidth() / 2) / way : 0;
  const ImVec2 knob(track.Min.x + radius + std::clamp(part, 0.0F, 1.0F) * (track.GetWidth() - 2 * radius),
                    track.GetCenter().y);
  list->AddRectFilled({track.Min.x, knob.y - half}, {track.Max.x, knob.y + half}, c.edge, half);
  list->AddRectFilled({track.Min.x, knob.y - half}, {knob.x, knob.y + half}, ink, half);
  const bool active = g.ActiveId == id;
  if (hovered || active) list->AddCircleFilled(knob, radius + px(3), with_alpha(ink, active ? 0.35F : 0.2F));
  list->AddCircleFilled(knob, radius, ink);
  ImGui::RenderNavCursor(box, id);
  return changed;
}

std::vector<DrawnSlider> drawn_sliders() { return noted().before; }

void seek_slider(ImGuiID id) { noted().sought = id; }

}  // namespace palimpsest::style

namespace palimpsest {

namespace {

/// The corners of a part of an icon, in a square from -1 to 1: of a line, a filled triangle or a filled bar.
using IconPart = std::vector<ImVec2>;

IconPart bar(float left, float top, float right, float bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

/// A triangle with its point at `tip`; direction 1 points to the right.
IconPart arrow(float tip, float direction) {
  const float base = tip - direction * 1.5F;
  return {{base, -1}, {tip, 0}, {base, 1}};
}

/// A flag on a pole at `x`.
IconPart pole(float x) { return bar(x, -1.1F, x + 0.2F, 1.1F); }
IconPart flag(float x) { return {{x, -1.1F}, {x + 0.8F, -0.6F}, {x, -0.1F}}; }

const std::vector<IconPart>& parts_of(Icon icon) {
  static const std::vector<IconPart> all[] = {
      // in the order of Icon
      {bar(-1, -1, -0.7F, 1), arrow(-0.55F, -1)},
      {arrow(-0.85F, -1)},
      {IconPart{{-0.85F, -1.2F}, {1.2F, 0}, {-0.85F, 1.2F}}},
      {bar(-0.9F, -1.1F, -0.25F, 1.1F), bar(0.25F, -1.1F, 0.9F, 1.1F)},
      {arrow(0.85F, 1)},
      {arrow(0.55F, 1), bar(0.7F, -1, 1, 1)},
      {arrow(-1.4F, -1), pole(0.5F), flag(0.5F)},
      {pole(-1.3F), flag(-1.3F), arrow(1.4F, 1)},
      {IconPart{{-0.8F, 0}, {0.8F, 0}}},
      {IconPart{{-0.8F, 0}, {0.8F, 0}}, IconPart{{0, -0.8F}, {0, 0.8F}}},
      {IconPart{{-0.7F, -0.7F}, {0.7F, 0.7F}}, IconPart{{-0.7F, 0.7F}, {0.7F, -0.7F}}}};
  return entry(all, icon);
}

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
  const ImVec2 middle = corner + ImVec2(std::round(side / 2), std::round(side / 2));
  const float half = std::round(side * 0.24F);
  const ImU32 ink = hovered ? c.text : style::mix(c.dim, c.text, 0.6F);
  for (const IconPart& part : parts_of(icon)) {
    const auto at = [&](std::size_t i) { return middle + part[i] * half; };
    if (part.size() == 2) list->AddLine(at(0), at(1), ink, std::max(1.0F, half * 0.3F));
    if (part.size() == 3) list->AddTriangleFilled(at(0), at(1), at(2), ink);
    if (part.size() == 4) list->AddRectFilled(at(0), at(2), ink);
  }
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
