#include "app/widgets/text.h"

#include <fmt/format.h>

#include <cmath>

#include "app/widgets/controls.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

constexpr float tooltip_width = 320;

const char* end_of(std::string_view text) { return text.data() + text.size(); }

/// "␣" for a space and so on; empty for what is visible by itself.
std::string_view stand_in(char character) {
  switch (character) {
    case ' ':
      return "␣";
    case '\n':
      return "⏎";
    case '\t':
      return "⇥";
    case '\r':
      return "␍";
    default:
      return {};
  }
}

bool begin_tooltip() {
  // Not for what only has the keyboard's focus: the words belong to the pointer.
  if (!ImGui::IsMouseHoveringRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax())) return false;
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled)) return false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(style::px(12), style::px(8)));
  const bool begun = ImGui::BeginTooltip();
  ImGui::PopStyleVar();
  return begun;
}

void wrapped(std::string_view text) {
  ImGui::PushTextWrapPos(style::px(tooltip_width));
  ImGui::TextUnformatted(text.data(), end_of(text));
  ImGui::PopTextWrapPos();
}

}  // namespace

std::string shortened(std::string_view text, float width) {
  if (text_extent(text).x <= width) return std::string(text);
  const float rest = width - text_extent("…").x;
  if (rest <= 0) return {};
  const char* cut = text.data();
  ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), rest, 0, text.data(), end_of(text), &cut);
  return std::string(text.data(), cut) + "…";
}

std::string scientific(double value) {
  if (value == 0) return "0";
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return "∞";
  return fmt::format("{:.1e}", value);
}

std::string visible_label(std::string_view label) {
  const std::size_t first = label.find_first_not_of(' ');
  if (first != std::string_view::npos) label.remove_prefix(first);
  std::string visible;
  for (const char character : label) {
    const bool replaced = character != ' ' || first == std::string_view::npos;
    const std::string_view shown = replaced ? stand_in(character) : std::string_view();
    visible += shown.empty() ? std::string(1, character) : std::string(shown);
  }
  return visible;
}

ImVec2 text_extent(std::string_view text) { return ImGui::CalcTextSize(text.data(), end_of(text)); }

void draw_text(ImVec2 position, ImU32 colour, std::string_view text) {
  ImGui::GetWindowDrawList()->AddText({std::floor(position.x), std::floor(position.y)}, colour, text.data(),
                                      end_of(text));
}

void draw_rising_text(ImVec2 position, ImU32 colour, std::string_view text) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int first = list->VtxBuffer.Size;
  // Written where nothing of it is clipped, then turned and moved.
  const ImVec2 visible = list->GetClipRectMin();
  const ImVec2 corner = {std::ceil(visible.x), std::ceil(visible.y)};
  list->AddText(corner, colour, text.data(), end_of(text));
  const ImVec2 to = {std::floor(position.x), std::floor(position.y)};
  for (int i = first; i < list->VtxBuffer.Size; ++i) {
    ImVec2& vertex = list->VtxBuffer[i].pos;
    vertex = {to.x + (vertex.y - corner.y), to.y - (vertex.x - corner.x)};
  }
}

void draw_centred(ImVec2 position, float width, ImU32 colour, std::string_view text) {
  const std::string shown = shortened(text, width);
  draw_text({position.x + (width - text_extent(shown).x) / 2, position.y}, colour, shown);
}

void align_right(float width) {
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
}

void tooltip(std::string_view text) {
  if (!begin_tooltip()) return;
  wrapped(text);
  ImGui::EndTooltip();
}

void tooltip(std::string_view text, std::string_view key) {
  if (!begin_tooltip()) return;
  wrapped(text);
  ImGui::SameLine();
  style::key_hint(std::string(key).c_str());
  ImGui::EndTooltip();
}

}  // namespace palimpsest
