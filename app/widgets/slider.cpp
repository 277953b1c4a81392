#include "app/widgets/controls.h"

#include "app/gl/context_local.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest::style {

namespace {

constexpr float slider_height = 40;
constexpr float track_height = 4;
constexpr float knob_radius = 7;

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

/// Notes that a slider is about to be drawn; true if seek_slider() asked for it.
bool note_slider(std::string_view symbol, std::string_view words, ImGuiID id) {
  Noted& all = noted();
  all.now.push_back({std::string(symbol), std::string(words), id});
  return id == all.sought && std::exchange(all.sought, 0) != 0;
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
  float baseline = 0;
  float x = box.Min.x;
  float number_width = 0;
  {
    const TextStyle text(Text::number_small);
    number_width = text_extent(number).x;
  }
  {
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

bool slider(const char* symbol, const char* words, double* value, const SliderLook& look) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (window->SkipItems) return false;
  const std::string_view label = std::string_view(words).substr(0, std::string_view(words).find("##"));
  const ImGuiID id = window->GetID(words);
  const ImRect box(window->DC.CursorPos, {window->DC.CursorPos.x + ImGui::CalcItemWidth(),
                                          window->DC.CursorPos.y + px(slider_height)});
  ImGui::ItemSize(box);
  if (note_slider(symbol, label, id)) ImGui::SetKeyboardFocusHere();
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
