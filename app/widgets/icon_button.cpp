#include "app/widgets/icon_button.h"

#include <imgui.h>

#include <cmath>

#include "app/widgets/style.h"

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
