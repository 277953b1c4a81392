// What the units of a network send each other.

#include <algorithm>
#include <cmath>

#include "app/stage/draw.h"

namespace palimpsest {

namespace {

constexpr float faintest = 0.08F;

}  // namespace

void draw_links(const PlacedLinks& placed, const StageScene& scene) {
  const std::vector<StrongLink>& links = placed.links->links;
  const bool has_both = scene.view.finished_rows(placed.to.picture->tensor) != 0;
  if (links.empty() || !has_both) return;
  const auto strongest = static_cast<float>(std::abs(links.back().amount));
  const auto height_of = [](const PlacedPicture& layer, Index unit) {
    const auto rows = static_cast<float>(layer.picture->rows);
    return layer.position.y + layer.size.y * (static_cast<float>(unit) + 0.5F) / rows;
  };
  const float left = placed.from.position.x + placed.from.size.x + style::px(2);
  const float right = placed.to.position.x - style::px(2);
  const bool is_made = placed.to.picture->tensor == scene.view.lit;
  const auto grown = is_made ? static_cast<float>(scene.fade) : 1.0F;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const StrongLink& link : links) {
    const auto amount = static_cast<float>(link.amount);
    const ImU32 ink = style::colour(colour(style::colours().map, amount, strongest));
    const float strength = std::max(std::abs(amount) / strongest, faintest);
    const ImVec2 from = {left, height_of(placed.from, link.from)};
    const ImVec2 to = {right, height_of(placed.to, link.to)};
    list->AddLine(from, {from.x + (to.x - from.x) * grown, from.y + (to.y - from.y) * grown},
                  style::with_alpha(ink, strength), style::px(style::line));
  }
}

}  // namespace palimpsest
