// What a click enlarges a picture with: its name, and a mark in its corner.

#include <algorithm>

#include "app/stage/draw.h"
#include "app/widgets/tooltip_place.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float mark_side = 20;
constexpr float mark_inset = 4;
constexpr float least_picture = 56;  // in smaller ones the mark would hide too much

bool is_under_pointer(const Rectangle& place) {
  return ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(place.minimum, place.maximum);
}

void enlarge_on_click(const std::string& tensor, StageScene& scene) {
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) scene.enlarge = tensor;
}

/// Two arrows, from the middle to opposite corners.
void draw_arrows(const Rectangle& mark, ImU32 colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = px(5);
  const float head = px(5);
  const float width = px(1.5F);
  const ImVec2 top = {mark.maximum.x - inset, mark.minimum.y + inset};
  const ImVec2 foot = {mark.minimum.x + inset, mark.maximum.y - inset};
  list->AddLine(top, foot, colour, width);
  list->AddLine(top, {top.x - head, top.y}, colour, width);
  list->AddLine(top, {top.x, top.y + head}, colour, width);
  list->AddLine(foot, {foot.x + head, foot.y}, colour, width);
  list->AddLine(foot, {foot.x, foot.y - head}, colour, width);
}

}  // namespace

void offer_enlarging(const std::string& tensor, const Rectangle& place, StageScene& scene) {
  if (tensor.empty()) return;
  scene.enlarging.push_back({tensor, place});
  if (!is_under_pointer(place)) return;
  ImGui::GetWindowDrawList()->AddLine({place.minimum.x, place.maximum.y}, place.maximum, style::colours().dim,
                                      px(style::line));
  enlarge_on_click(tensor, scene);
}

bool draw_enlarging_mark(const std::string& tensor, ImVec2 position, ImVec2 size, StageScene& scene) {
  if (std::min(size.x, size.y) < px(least_picture)) return false;
  const float right = position.x + size.x - px(mark_inset);
  const float top = position.y + px(mark_inset);
  const Rectangle mark = {{right - px(mark_side), top}, {right, top + px(mark_side)}};
  scene.enlarging.push_back({tensor, mark});
  const bool is_pointed = is_under_pointer(mark);
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(mark.minimum, mark.maximum, c.panel, px(4));
  list->AddRect(mark.minimum, mark.maximum, is_pointed ? c.text : c.edge, px(4), px(style::line));
  draw_arrows(mark, is_pointed ? c.text : c.dim);
  if (!is_pointed) return false;
  tooltip_beside(mark.minimum, mark.maximum, "Enlarges this picture, or goes back to the step (E)");
  enlarge_on_click(tensor, scene);
  return true;
}

}  // namespace palimpsest
