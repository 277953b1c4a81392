#include "app/widgets/label_place.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/widgets/style.h"

namespace palimpsest {

namespace {

constexpr int steps = 32;         // to every side
constexpr float step_x = 10;      // of so many design pixels,
constexpr float step_y = 5;       // and up and down
constexpr float sideways = 0.4F;  // how much worse a pixel to a side is than one up or down
constexpr float gap = 2;          // around words

float distance(ImVec2 away) { return std::hypot(sideways * away.x, away.y); }

/// All places around a wish in steps, the nearest first.
const std::vector<ImVec2>& steps_away() {
  static const std::vector<ImVec2> all = [] {
    std::vector<ImVec2> made;
    for (int i = -steps; i <= steps; ++i) {
      for (int j = -steps; j <= steps; ++j)
        made.push_back({static_cast<float>(i) * step_x, static_cast<float>(j) * step_y});
    }
    std::ranges::stable_sort(made, {}, distance);
    return made;
  }();
  return all;
}

/// Whether a line from `a` to `b` reaches into a rectangle.
bool segment_crosses(ImVec2 a, ImVec2 b, const Rectangle& box) {
  if (a.x > b.x) std::swap(a, b);
  if (b.x < box.minimum.x || a.x > box.maximum.x) return false;
  const auto y_at = [&](float x) { return b.x > a.x ? a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x) : a.y; };
  const bool is_upright = !(b.x > a.x);
  const float first = is_upright ? a.y : y_at(std::max(a.x, box.minimum.x));
  const float last = is_upright ? b.y : y_at(std::min(b.x, box.maximum.x));
  return std::max(first, last) >= box.minimum.y && std::min(first, last) <= box.maximum.y;
}

}  // namespace

bool crosses(const std::vector<ImVec2>& line, const Rectangle& box) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (segment_crosses(line[i], line[i + 1], box)) return true;
  }
  return false;
}

LabelPlace free_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent) {
  const ImVec2 end = {std::max(room.maximum.x - extent.x, room.minimum.x),
                      std::max(room.maximum.y - extent.y, room.minimum.y)};
  wish = {std::clamp(wish.x, room.minimum.x, end.x), std::clamp(wish.y, room.minimum.y, end.y)};
  std::optional<ImVec2> over_curves;
  for (const ImVec2 away : steps_away()) {
    const ImVec2 at = {wish.x + style::px(away.x), wish.y + style::px(away.y)};
    if (at.x < room.minimum.x || at.x > end.x || at.y < room.minimum.y || at.y > end.y) continue;
    const float margin = style::px(gap);
    const Rectangle box = {{at.x - margin, at.y - margin},
                           {at.x + extent.x + margin, at.y + extent.y + margin}};
    if (std::ranges::any_of(taken.boxes, [&](const Rectangle& other) { return overlap(box, other); }))
      continue;
    if (!over_curves) over_curves = at;
    if (std::ranges::none_of(taken.lines, [&](const auto& line) { return crosses(line, box); }))
      return {at, true, style::px(distance(away))};
  }
  return {over_curves.value_or(wish)};
}

}  // namespace palimpsest
