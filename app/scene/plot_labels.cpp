#include "app/scene/plot_view.h"

#include <numeric>

#include "app/gl/context_local.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

constexpr int steps = 32;         // in every direction
constexpr float step_x = 10;      // design pixels of a step to a side
constexpr float step_y = 5;       // and of one up or down
constexpr float sideways = 0.4F;  // cost of a pixel to a side, relative to one up or down
constexpr float gap = 2;          // around words

float distance(ImVec2 away) { return std::hypot(sideways * away.x, away.y); }

/// The ways from a wish to all candidate places around it, in design pixels: the nearest first.
const std::vector<ImVec2>& ways_around() {
  static const std::vector<ImVec2> all = [] {
    std::vector<ImVec2> made;
    for (int i = -steps; i <= steps; ++i) {
      for (int j = -steps; j <= steps; ++j)
        made.emplace_back(static_cast<float>(i) * step_x, static_cast<float>(j) * step_y);
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

/// Labels that touch and move together.
struct Touching {
  std::vector<std::size_t> labels;
  float wishes = 0;  // the sum of where each would have the first of them
  float height = 0;
  float top = 0;

  void place(float least, float most) {
    const float mean = wishes / static_cast<float>(labels.size());
    top = std::max(std::min(mean, most - height), least);
  }
};

/// The heights of a line between two places.
struct Heights {
  float high = 1e9F;
  float low = -1e9F;

  bool empty() const { return high > low; }
  /// The distance of `y` from the line.
  float away(float y) const { return empty() ? 1e9F : std::max({high - y, y - low, 0.0F}); }
};

Heights heights_between(const std::vector<ImVec2>& points, float from, float to) {
  Heights heights;
  for (const ImVec2& point : points) {
    if (point.x < from || point.x > to) continue;
    heights = {std::min(heights.high, point.y), std::max(heights.low, point.y)};
  }
  return heights;
}

bool is_upright(const std::vector<ImVec2>& line) {
  return line.size() == 2 && line.front().x == line.back().x;
}

}  // namespace

bool Taken::cover(const Rectangle& place) const {
  return std::ranges::any_of(boxes, [&](const Rectangle& box) { return overlap(place, box); });
}

bool Taken::cross(const Rectangle& place, bool uprights_too) const {
  return std::ranges::any_of(lines, [&](const std::vector<ImVec2>& line) {
    return (uprights_too || !is_upright(line)) && crosses(line, place);
  });
}

bool crosses(const std::vector<ImVec2>& line, const Rectangle& box) {
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (segment_crosses(line[i], line[i + 1], box)) return true;
  }
  return false;
}

static LabelPlace found_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent) {
  const Rectangle corners = {room.minimum, upper_of(room.maximum - extent, room.minimum)};
  wish = corners.nearest(wish);
  std::optional<ImVec2> over_curves;
  for (const ImVec2 away : ways_around()) {
    const ImVec2 at = wish + ImVec2(style::px(away.x), style::px(away.y));
    const Rectangle place = box_at(at, extent).grown(style::px(gap));
    if (!corners.holds({at, at}) || taken.cover(place)) continue;
    if (!over_curves) over_curves = at;
    if (!taken.cross(place)) return {at, true, style::px(distance(away))};
  }
  return {over_curves.value_or(wish)};
}

LabelPlace free_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent) {
  // The cache key: usually nothing has changed since the last frame.
  std::vector<ImVec2> asked = {room.minimum, room.maximum, wish, extent, {style::scale(), 0}};
  for (const Rectangle& box : taken.boxes) asked.insert(asked.end(), {box.minimum, box.maximum});
  for (const std::vector<ImVec2>& line : taken.lines) {
    asked.emplace_back(0.0F, 0.0F);
    asked.insert(asked.end(), line.begin(), line.end());
  }
  const std::string_view bytes(reinterpret_cast<const char*>(asked.data()), asked.size() * sizeof(ImVec2));
  auto& known = context_local<FrameCache<std::size_t, std::optional<LabelPlace>>>();
  std::optional<LabelPlace>& place = known[std::hash<std::string_view>()(bytes)];
  if (!place) place = found_place(room, taken, wish, extent);
  return *place;
}

std::optional<ImVec2> place_beside_line(const Rectangle& room, const Taken& taken,
                                        const std::vector<std::vector<ImVec2>>& lines, std::size_t index,
                                        ImVec2 extent) {
  const std::vector<ImVec2>& own = lines[index];
  if (own.empty()) return std::nullopt;
  const float step = std::max(room.width() / 24, style::px(24));
  const auto is_nearest = [&](float from, float to, float y) {
    const float away = heights_between(own, from - step, to + step).away(y);
    return std::ranges::none_of(lines, [&](const auto& other) {
      return &other != &own && heights_between(other, from - step, to + step).away(y) < away;
    });
  };
  const float margin = style::px(3);
  const float last = std::min(room.maximum.x - style::px(8),
                              std::max(own.back().x, room.minimum.x + extent.x + style::px(12)));
  for (const bool touches : {false, true}) {
    for (const float rows : {0.0F, 1.0F, 2.0F}) {
      for (float right = last; right - extent.x > room.minimum.x + style::px(8); right -= step) {
        const Heights heights = heights_between(own, right - extent.x - step, right + step);
        if (heights.empty()) continue;
        const float beside = margin + rows * (extent.y + style::px(2));
        for (const float y : {heights.high - extent.y - beside, heights.low + beside}) {
          const bool is_inside = y >= room.minimum.y && y + extent.y <= room.maximum.y;
          if (!is_inside && !touches) continue;
          const float top = std::clamp(y, room.minimum.y, room.maximum.y - extent.y);
          if (!touches && !is_nearest(right - extent.x, right, top + extent.y / 2)) continue;
          const Rectangle place = {{right - extent.x - margin, top}, {right + margin, top + extent.y}};
          if (!taken.cover(place)) return ImVec2{right - extent.x, top};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<ImVec2> place_beside_upright(const Rectangle& room, const Taken& taken, ImVec2 wish, float x,
                                           ImVec2 extent) {
  const float beside = style::px(8);
  const float margin = style::px(3);
  const float step = style::px(14);
  const float first = std::max(wish.y, room.minimum.y);
  const int rows = static_cast<int>((room.height() - extent.y) / step);
  for (const bool may_cover_uprights : {false, true}) {
    for (int row = 0; row <= rows; ++row) {
      float y = first + static_cast<float>(row) * step;
      if (y + extent.y > room.maximum.y) y -= static_cast<float>(rows + 1) * step;  // on from the top
      for (const float left : {x + beside, x - beside - extent.x}) {
        if (left < room.minimum.x || left + extent.x > room.maximum.x || y < room.minimum.y) continue;
        const Rectangle box = box_at({left, y}, extent).grown({margin, 0});
        if (!taken.cover(box) && !taken.cross(box, !may_cover_uprights)) return ImVec2{left, y};
      }
    }
  }
  return std::nullopt;
}

std::vector<float> spread(const std::vector<WantedLabel>& wanted, float top, float bottom) {
  std::size_t count = 0;
  for (float height = 0; count < wanted.size(); ++count) {
    height += wanted[count].height;
    if (height > bottom - top) break;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i].top; });
  std::vector<Touching> groups;
  for (const std::size_t i : order) {
    groups.push_back({.labels = {i}, .wishes = wanted[i].top, .height = wanted[i].height});
    groups.back().place(top, bottom);
    while (groups.size() > 1) {
      Touching& above = groups[groups.size() - 2];
      const Touching& below = groups.back();
      if (above.top + above.height <= below.top) break;
      above.wishes += below.wishes - above.height * static_cast<float>(below.labels.size());
      above.labels.insert(above.labels.end(), below.labels.begin(), below.labels.end());
      above.height += below.height;
      above.place(top, bottom);
      groups.pop_back();
    }
  }
  std::vector<float> tops(count);
  for (const Touching& group : groups) {
    float at = group.top;
    for (const std::size_t i : group.labels) {
      tops[i] = at;
      at += wanted[i].height;
    }
  }
  return tops;
}

}  // namespace palimpsest
