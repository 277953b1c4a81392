#include "app/scene/window.h"

#include <imgui_internal.h>  // to replace a tooltip

namespace palimpsest::scene {

namespace {

using style::px;

constexpr float note_part = 0.56F;  // of the window's width, at most
constexpr float widest_tip = 340;   // design pixels
constexpr ImGuiWindowFlags bar_flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking |
                                       ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                       ImGuiWindowFlags_NoScrollWithMouse;

/// The room for the content of a card, in screen pixels.
ImVec2 room_of(const Card& card) {
  const ImVec2 window = ImGui::GetMainViewport()->WorkSize;
  const auto within = [&](float most, float there) {
    const float left = std::max(there - px(card.beside), px(80));
    return most > 0 ? std::min(px(most), left) : left;
  };
  return {within(card.widest, window.x), within(card.highest, window.y)};
}

/// Whether the card is shown; then it must be ended.
bool begin_card(const Card& card, bool& open) {
  if (open && !ImGui::IsPopupOpen(card.name)) ImGui::OpenPopup(card.name);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const float y = card.on_top ? std::round(viewport->WorkSize.y * 0.12F) : viewport->WorkSize.y / 2;
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x / 2, viewport->WorkPos.y + y},
                          ImGuiCond_Always, {0.5F, card.on_top ? 0 : 0.5F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(28), px(24)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(style::corner));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, px(style::line));
  const bool begun =
      ImGui::BeginPopupModal(card.name, nullptr,
                             ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar(3);
  if (!begun) return false;
  const bool beside = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsWindowAppearing() &&
                      !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows |
                                              ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (beside || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) open = false;
  return true;
}

}  // namespace

void show_card(const Card& card, bool& open, const std::function<Node(bool is_new)>& content) {
  if (!begin_card(card, open)) return;
  show_in(content(ImGui::IsWindowAppearing()), room_of(card));
  if (!open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void show_panel(const char* name, bool scrolls, const std::function<Node()>& content, float low) {
  const ImGuiWindowFlags still = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const bool is_low = ImGui::GetContentRegionAvail().y < px(low);
  if (style::begin_panel(name, {0, 0}, scrolls ? 0 : still,
                         is_low ? style::low_padding : style::panel_padding))
    show(content());
  style::end_panel();
}

void show_tip(const Node& content) {
  if (!ImGui::BeginTooltipEx(ImGuiTooltipFlags_OverridePrevious, ImGuiWindowFlags_None)) return;
  show_in(content, {px(widest_tip), std::numeric_limits<float>::infinity()});
  ImGui::EndTooltip();
}

void explain(std::string latex, std::string words, std::string papers) {
  Nodes all;
  if (!latex.empty()) all.push_back(formula(std::move(latex), style::formula_label + 4));
  all.push_back(text(std::move(words)));
  if (!papers.empty()) all.push_back(caption(std::move(papers)));
  show_tip(column(std::move(all)));
}

void show_bar(const char* name, float height, const Node& content, float top) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 corner = {viewport->WorkPos.x, viewport->WorkPos.y + top};
  ImGui::SetNextWindowPos(corner);
  ImGui::SetNextWindowSize({viewport->WorkSize.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin(name, nullptr, bar_flags | ImGuiWindowFlags_NoBringToFrontOnFocus);
  ImGui::PopStyleVar();
  const float gap = px(style::panel_gap);
  const ImVec2 from = {corner.x + gap, corner.y + (top > 0 ? 0 : std::min(gap, std::round(height / 8)))};
  const ImVec2 to = {corner.x + viewport->WorkSize.x - gap, corner.y + height - gap};
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, c.panel, px(style::corner));
  list->AddRect(from, to, c.edge, px(style::corner), px(style::line));
  const float padding = px(style::panel_padding);
  // Two lines of captions may use the room around the bar's ground, which is lower than their spacing.
  ImGui::SetCursorScreenPos({from.x + padding, std::round((from.y + to.y - height) / 2)});
  show_in(column({rest(), content, rest()}, Gap::none), {to.x - from.x - 2 * padding, height});
  ImGui::End();
}

bool pointer_moves() {
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  return moved.x != 0 || moved.y != 0;
}

void show_note(const char* name, Ink frame, const Node& content) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->WorkPos.x + viewport->WorkSize.x - px(style::panel_gap + 8),
                           viewport->WorkPos.y + viewport->WorkSize.y - px(style::panel_gap + 7)},
                          ImGuiCond_Always, {1, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(12), px(5)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, px(style::line));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, style::colours().panel);
  ImGui::PushStyleColor(ImGuiCol_Border, frame);
  ImGui::Begin(name, nullptr,
               bar_flags | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(4);
  show_in(content, {viewport->WorkSize.x * note_part, std::numeric_limits<float>::infinity()});
  ImGui::End();
}

}  // namespace palimpsest::scene
