#include "app/widgets/chart.h"

#include <fmt/format.h>

#include "app/widgets/style.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr float usual_dash = 5;
constexpr double rounding = 1e-12;  // relative to the larger number: thousands of units in the last place

/// The part of a line inside the clip rectangle of `list`, from 0 to 1; both 0 if it is outside.
struct SeenPart {
  float first = 0;
  float last = 1;
};

SeenPart seen_part(const ImDrawList* list, ImVec2 from, ImVec2 to, float width) {
  const ImVec2 low = list->GetClipRectMin();
  const ImVec2 high = list->GetClipRectMax();
  SeenPart seen;
  const auto cut = [&](float begin, float end, float least, float most) {
    const float way = end - begin;
    if (way == 0) {
      if (begin < least || begin > most) seen.last = 0;
      return;
    }
    const auto [first, last] = std::minmax({(least - begin) / way, (most - begin) / way});
    seen.first = std::max(seen.first, first);
    seen.last = std::min(seen.last, last);
  };
  cut(from.x, to.x, low.x - width, high.x + width);
  cut(from.y, to.y, low.y - width, high.y + width);
  return seen.first < seen.last ? seen : SeenPart{0, 0};
}

}  // namespace

bool is_flat(double from, double to) {
  const double smallest = std::numeric_limits<double>::min() / rounding;  // smaller numbers lose digits
  return !(to - from > std::max({rounding * std::abs(from), rounding * std::abs(to), smallest})) ||
         !std::isfinite(to - from);
}

std::vector<double> round_numbers(double from, double to, int count) {
  if (is_flat(from, to) || count < 1) return {};
  const double rough = (to - from) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double distance = power * (power >= rough ? 1 : 2 * power >= rough ? 2 : 5 * power >= rough ? 5 : 10);
  std::vector<double> numbers;
  for (double i = std::ceil(from / distance - 1e-9); i * distance <= to + 1e-9 * distance; ++i)
    numbers.push_back(i == 0 ? 0 : i * distance);
  return numbers;
}

double round_above(double range) {
  if (!(range > 0) || !std::isfinite(range)) return 1;
  const double power = std::pow(10, std::floor(std::log10(range)));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (range <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

std::string axis_number(double value, double distance) {
  const double size = std::max(std::abs(value), distance);
  if (value != 0 && (size >= 1e5 || distance < 1e-4)) {
    // As many digits as distinguish it from the next one.
    const int digits = static_cast<int>(std::ceil(std::log10(size / distance) - 1e-9)) + 1;
    return plain_number(value, std::clamp(digits, 2, 6));
  }
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(distance) + 1e-9)));
  return fmt::format("{:.{}f}", value, digits);
}

void fill(const Rectangle& where, ImU32 colour, float rounding) {
  ImGui::GetWindowDrawList()->AddRectFilled(where.minimum, where.maximum, colour, rounding);
}

void outline(const Rectangle& where, ImU32 colour, float rounding, float width) {
  ImGui::GetWindowDrawList()->AddRect(where.minimum, where.maximum, colour, rounding, width);
}

void dashed_outline(ImDrawList* list, const Rectangle& where, ImU32 colour, float width, float dash) {
  const auto& [from, to] = where;
  const ImVec2 corners[] = {from, {to.x, from.y}, to, {from.x, to.y}, from};
  dashed_curve(list, corners, colour, width, dash);
}

void hatch(const Rectangle& where, ImU32 colour) {
  const auto& [from, to] = where;
  if (!(to.x > from.x) || !(to.y > from.y)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(from, to, true);
  const float height = to.y - from.y;
  const float step = style::px(style::hatch);
  for (float x = std::floor((from.x - height) / step) * step; x < to.x; x += step)
    list->AddLine({x, to.y}, {x + height, from.y}, colour, style::px(style::line));
  list->PopClipRect();
}

// Split at sharp turns, where Dear ImGui would draw the joint too thin to be visible.
void solid_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width) {
  constexpr float sharpest = -0.8F;  // the cosine of a turn that it can draw
  std::size_t first = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (i + 1 < points.size()) {
      const ImVec2 in = points[i] - points[i - 1];
      const ImVec2 out = points[i + 1] - points[i];
      const float lengths = std::hypot(in.x, in.y) * std::hypot(out.x, out.y);
      if (in.x * out.x + in.y * out.y >= sharpest * lengths) continue;
    }
    list->AddPolyline(&points[first], static_cast<int>(i - first + 1), colour, width);
    first = i;
  }
}

void dashed_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width, float dash) {
  float before = 0;  // length of the line before this piece
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const ImVec2 from = points[i];
    const ImVec2 to = points[i + 1];
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const SeenPart seen = seen_part(list, from, to, width);
    const auto point = [&](float at) {
      const float part = std::clamp(at - before, 0.0F, length) / length;
      return from + (to - from) * part;
    };
    // Only the visible dashes of a piece.
    for (float at = std::floor((before + seen.first * length) / (2 * dash)) * 2 * dash;
         at < before + seen.last * length; at += 2 * dash) {
      if (at + dash > before) list->AddLine(point(at), point(at + dash), colour, width);
    }
    before = std::fmod(before + length, 2 * dash);
  }
}

void dashed_line(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 colour, float width) {
  const ImVec2 ends[] = {from, to};
  dashed_curve(list, ends, colour, width, style::px(usual_dash));
}

void straight_line(ImDrawList* list, std::span<const ImVec2, 2> ends, ImU32 colour, float width, float dash) {
  dash > 0 ? dashed_curve(list, ends, colour, width, dash) : list->AddLine(ends[0], ends[1], colour, width);
}

}  // namespace palimpsest
