#include "app/widgets/controls.h"

#include <imgui_internal.h>  // to build a slider of our own

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "app/widgets/drawn_sliders.h"
#include "app/widgets/formula.h"
#include "app/widgets/paragraph_height.h"
#include "app/widgets/text.h"

namespace palimpsest::style {
namespace {

constexpr float slider_height = 40;
constexpr float track_height = 4;
constexpr float knob_radius = 7;
constexpr float pill_height = 28;
constexpr float pill_padding = 14;

// The part of a label that is shown.
std::string_view shown_part(std::string_view label) { return label.substr(0, label.find("##")); }

ImVec2 text_size(std::string_view text) {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size());
}

void draw_text(ImVec2 position, ImU32 colour, std::string_view text) {
  ImGui::GetWindowDrawList()->AddText({std::floor(position.x), std::floor(position.y)}, colour, text.data(),
                                      text.data() + text.size());
}

// Tells the GUI tests about the item that was just added.
void report_item(ImGuiID id, const char* label, ImGuiItemStatusFlags flags) {
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro wants
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, g.LastItemData.StatusFlags | flags);
}

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
  Press result;
  bool held = false;
  result.pressed = ImGui::ButtonBehavior(box, id, &result.hovered, &held);
  ImGui::RenderNavCursor(box, id, ImGuiNavRenderCursorFlags_None, rounding);
  report_item(id, label, 0);
  return result;
}

template <class Number>
constexpr ImGuiDataType data_type() {
  if constexpr (std::is_same_v<Number, double>) return ImGuiDataType_Double;
  if constexpr (std::is_same_v<Number, float>) return ImGuiDataType_Float;
  return ImGuiDataType_S32;
}

// Moves the logarithm of the value. (Dear ImGui's own logarithmic sliders take what their format rounds away
// for zero.)
template <class Number>
bool drag_logarithm(const ImRect& track, ImGuiID id, Number* value, const SliderLook<Number>& look,
                    const char* format, ImRect& grab) {
  const auto minimum = static_cast<double>(look.minimum);
  const auto maximum = static_cast<double>(look.maximum);
  const double from = std::log(minimum);
  const double to = std::log(maximum);
  double at = std::log(std::clamp(static_cast<double>(*value), minimum, maximum));
  if (!ImGui::SliderBehavior(track, id, ImGuiDataType_Double, &at, &from, &to, "%.2f",
                             ImGuiSliderFlags_NoRoundToFormat, &grab)) {
    return false;
  }
  // As it is shown, so that a person can type the same number.
  std::array<char, 64> shown{};
  const auto moved =
      static_cast<Number>(std::is_integral_v<Number> ? std::round(std::exp(at)) : std::exp(at));
  ImGui::DataTypeFormatString(shown.data(), static_cast<int>(shown.size()), data_type<Number>(), &moved,
                              format);
  const Number before = *value;
  ImGui::DataTypeApplyFromText(shown.data(), data_type<Number>(), value, format);
  *value = std::clamp(*value, look.minimum, look.maximum);
  return *value != before;
}

// Symbol and words from the left, the number from the right, all on one baseline. Returns whether all words
// had room.
bool draw_slider_label(const ImRect& box, const char* symbol, std::string_view words, std::string_view number,
                       ImU32 role, bool enabled) {
  const Palette& c = colours();
  const auto ink = [&](ImU32 colour) { return enabled ? colour : c.faint; };
  float baseline = 0;
  float x = box.Min.x;
  float number_width = 0;
  {
    const TextStyle text(Text::number_small);
    number_width = text_size(number).x;
  }
  std::string shown;
  {
    const TextStyle text(Text::body);
    baseline = std::round(box.Min.y + ImGui::GetFontBaked()->Ascent);
    if (*symbol != '\0') {
      x += draw_formula(ImGui::GetWindowDrawList(), {x, baseline}, symbol, px(formula_label), ink(role))
               .width +
           px(8);
    }
    shown = shortened(words, box.Max.x - number_width - px(8) - x);
    draw_text({x, box.Min.y}, ink(c.dim), shown);
  }
  const TextStyle text(Text::number_small);
  draw_text({box.Max.x - number_width, baseline - ImGui::GetFontBaked()->Ascent}, ink(c.text), number);
  return shown == words;
}

// Says where a slider ends while a number beyond is typed.
template <class Number>
void say_ends(const SliderLook<Number>& look, const char* format, Number present, ImGuiID id, ImVec2 below) {
  const ImGuiInputTextState* text = ImGui::GetInputTextState(id);
  if (text == nullptr) return;
  ImGui::DataTypeApplyFromText(text->TextA.Data, data_type<Number>(), &present, format);
  if (present >= look.minimum && present <= look.maximum) return;
  std::array<std::array<char, 64>, 2> ends{};
  const std::array<Number, 2> numbers = {look.minimum, look.maximum};
  for (std::size_t end = 0; end < 2; ++end)
    ImGui::DataTypeFormatString(ends[end].data(), static_cast<int>(ends[end].size()), data_type<Number>(),
                                &numbers[end], format);
  ImGui::SetNextWindowPos(below);
  ImGui::SetTooltip("from %s to %s", ends[0].data(), ends[1].data());
}

template <class Number>
bool any_slider(const char* symbol, const char* words, Number* value, const SliderLook<Number>& look) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->SkipItems) return false;
  constexpr ImGuiDataType type = data_type<Number>();
  const char* format = look.format != nullptr ? look.format : std::is_integral_v<Number> ? "%d" : "%.2f";
  const ImGuiID id = window->GetID(words);
  const ImRect box(window->DC.CursorPos, {window->DC.CursorPos.x + ImGui::CalcItemWidth(),
                                          window->DC.CursorPos.y + px(slider_height)});
  ImGui::ItemSize(box);
  if (note_slider(symbol, shown_part(words), id)) ImGui::SetKeyboardFocusHere();
  if (!ImGui::ItemAdd(box, id, nullptr, ImGuiItemFlags_Inputable)) return false;
  report_item(id, words, ImGuiItemStatusFlags_Inputable);

  const ImGuiContext& context = *ImGui::GetCurrentContext();
  const bool enabled = (context.CurrentItemFlags & ImGuiItemFlags_Disabled) == 0;
  const bool hovered = ImGui::ItemHoverable(box, id, context.LastItemData.ItemFlags);
  bool typing = ImGui::TempInputIsActive(id);
  bool changed = false;
  if (!typing) {
    const bool clicked = hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left, ImGuiInputFlags_None, id);
    const bool focused = context.NavActivateId == id;
    if (clicked && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      changed = *value != look.reset;
      *value = look.reset;
      ImGui::ClearActiveID();
    } else if (clicked || focused) {
      typing = (clicked && context.IO.KeyCtrl) ||
               (focused && (context.NavActivateFlags & ImGuiActivateFlags_PreferInput) != 0);
      if (clicked) ImGui::SetKeyOwner(ImGuiKey_MouseLeft, id);
      if (!typing) {
        ImGui::SetActiveID(id, window);
        ImGui::SetFocusID(id, window);
        ImGui::FocusWindow(window);
        ImGui::GetCurrentContext()->ActiveIdUsingNavDirMask |= 1 << ImGuiDir_Left | 1 << ImGuiDir_Right;
      }
    }
  }
  if (typing) {
    // Dear ImGui writes the label to the right of the box: its first letter would stand at the panel's edge.
    ImGui::PushClipRect(box.Min, box.Max, true);
    Number number = *value;
    const bool typed = ImGui::TempInputScalar(box, id, words, type, &number, format);
    ImGui::PopClipRect();
    say_ends(look, format, *value, id, {box.Min.x, box.Max.y});
    if (!typed || std::isnan(static_cast<double>(number))) return false;
    const Number before = std::exchange(*value, std::clamp(number, look.minimum, look.maximum));
    return *value != before;
  }

  const ImRect track(box.Min.x, box.Max.y - px(2 * knob_radius), box.Max.x, box.Max.y);
  ImRect grab;
  if (look.logarithmic ? drag_logarithm(track, id, value, look, format, grab)
                       : ImGui::SliderBehavior(track, id, type, value, &look.minimum, &look.maximum, format,
                                               ImGuiSliderFlags_None, &grab)) {
    changed = true;
  }
  if (changed) ImGui::MarkItemEdited(id);

  const Palette& c = colours();
  const ImU32 role = look.role == Role::plain ? c.dim : c.role(look.role);
  std::array<char, 64> number{};
  ImGui::DataTypeFormatString(number.data(), static_cast<int>(number.size()), type, value, format);
  const std::string_view label = shown_part(words);
  if (!draw_slider_label(box, symbol, label, look.shown.empty() ? number.data() : look.shown, role, enabled))
    tooltip(label);

  ImDrawList* list = window->DrawList;
  const ImU32 ink = mix(c.panel, role, enabled ? 1.0F : context.Style.DisabledAlpha);
  const float radius = px(knob_radius);
  const float half = px(track_height) / 2;
  // The grab moves between the ends of the track less its own half; the knob takes the same part of its way.
  const float way = track.GetWidth() - grab.GetWidth();
  const float part = way > 0 ? (grab.GetCenter().x - track.Min.x - grab.GetWidth() / 2) / way : 0;
  const ImVec2 knob(track.Min.x + radius + std::clamp(part, 0.0F, 1.0F) * (track.GetWidth() - 2 * radius),
                    track.GetCenter().y);
  list->AddRectFilled({track.Min.x, knob.y - half}, {track.Max.x, knob.y + half}, c.edge, half);
  list->AddRectFilled({track.Min.x, knob.y - half}, {knob.x, knob.y + half}, ink, half);
  const bool active = context.ActiveId == id;
  if (hovered || active) list->AddCircleFilled(knob, radius + px(3), with_alpha(ink, active ? 0.35F : 0.2F));
  list->AddCircleFilled(knob, radius, ink);
  ImGui::RenderNavCursor(box, id);
  return changed;
}

constexpr float between_lines = 4;  // in design pixels

// Text in the current font, wrapped, with a little more room between lines than Dear ImGui gives.
void wrapped(std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginGroup();
  ImGui::PushStyleVarY(ImGuiStyleVar_ItemSpacing, px(between_lines));
  for (const std::string_view line : wrapped_lines(text, width))
    ImGui::TextUnformatted(line.data(), line.data() + line.size());
  ImGui::PopStyleVar();
  ImGui::EndGroup();
}

// How high wrapped() writes `text`.
float wrapped_height(std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float letters = ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, width).y;
  const float lines = std::round(letters / ImGui::GetFontSize());
  return letters + std::max(lines - 1, 0.0F) * px(between_lines);
}

}  // namespace

bool begin_panel(const char* title, ImVec2 size, ImGuiWindowFlags flags, float padding) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, colours().panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(padding), px(padding)));
  const bool visible =
      ImGui::BeginChild(title, size, ImGuiChildFlags_Borders | ImGuiChildFlags_AlwaysUseWindowPadding, flags);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (const std::string_view words = shown_part(title); visible && !words.empty()) {
    caption(words);
    ImGui::Dummy({0, 0});
  }
  return visible;
}

void end_panel() { ImGui::EndChild(); }

void caption(std::string_view text) {
  const TextStyle style(Text::caption, colours().dim);
  wrapped(text);
}

void paragraph(std::string_view text) {
  const TextStyle style(Text::body, colours().dim);
  wrapped(text);
}

float paragraph_height(std::string_view text) {
  const TextStyle style(Text::body);
  return wrapped_height(text);
}

float caption_height(std::string_view text) {
  const TextStyle style(Text::caption);
  return wrapped_height(text);
}

ImVec2 pill_size(const char* label) {
  const TextStyle style(Text::body);
  return {std::ceil(text_size(shown_part(label)).x) + 2 * px(pill_padding), px(pill_height)};
}

bool pill_button(const char* label, bool selected, ImU32 colour, float width) {
  const Palette& c = colours();
  const ImVec2 size = {width > 0 ? width : pill_size(label).x, pill_size(label).y};
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
  const TextStyle style(Text::body);
  const std::string_view words = shown_part(label);
  const ImVec2 extent = text_size(words);
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
  const ImVec2 extent = text_size(words);
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
  const ImVec2 extent = text_size(words);
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
  const float y = std::round((from.y + to.y + text_size("x").y) / 2) - px(1);
  const bool is_disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  ImGui::GetWindowDrawList()->AddLine({from.x, y}, {to.x, y}, is_disabled ? c.edge : colour != 0 ? colour : c.faint, px(1));
  return pressed;
}

bool slider(const char* symbol, const char* words, double* value, const SliderLook<double>& look) {
  return any_slider(symbol, words, value, look);
}

bool slider(const char* symbol, const char* words, float* value, const SliderLook<float>& look) {
  return any_slider(symbol, words, value, look);
}

bool slider(const char* symbol, const char* words, int* value, const SliderLook<int>& look) {
  return any_slider(symbol, words, value, look);
}

void key_hint(const char* key) {
  const Palette& c = colours();
  const TextStyle style(Text::caption);
  const ImVec2 extent = text_size(key);
  const ImVec2 size(std::ceil(extent.x) + 2 * px(6), px(20));
  const float line_height = std::max(ImGui::GetCurrentWindow()->DC.CurrLineSize.y, size.y);
  ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy({size.x, line_height});
  from.y += std::floor((line_height - size.y) / 2);
  ImGui::GetWindowDrawList()->AddRect(from, {from.x + size.x, from.y + size.y}, c.edge, px(4), px(line));
  draw_text({from.x + px(6), from.y + (size.y - extent.y) / 2}, c.dim, key);
}

void legend(ImU32 colour, const char* word) {
  const TextStyle style(Text::caption);
  const ImVec2 extent = text_size(word);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float middle = std::round(from.y + extent.y / 2);
  ImGui::Dummy({px(12) + px(4) + std::ceil(extent.x), extent.y});
  ImGui::GetWindowDrawList()->AddRectFilled({from.x, middle - px(2)}, {from.x + px(12), middle + px(2)},
                                            colour);
  draw_text({from.x + px(12) + px(4), from.y}, colours().dim, word);
}

}  // namespace palimpsest::style
