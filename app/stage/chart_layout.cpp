// Lines over the steps inside an operation.

#include <algorithm>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float title_height = 26;
constexpr float foot_height = 44;
constexpr float widest = 720;
constexpr float highest = 360;
constexpr float letters = 14;

}  // namespace

void lay_out_chart(StageLayout& layout, const HeroChart& chart, ImVec2 origin, ImVec2 room,
                   const Ruler& ruler) {
  const float top = ruler.px(title_height);
  const float foot = ruler.px(foot_height);
  const ImVec2 size = {std::min(room.x, ruler.px(widest)),
                       std::clamp(room.y - top - foot, ruler.px(24), ruler.px(highest))};
  const float x = origin.x + (room.x - size.x) / 2;
  const float y = origin.y + std::max((room.y - size.y - top - foot) / 2, 0.0F);
  place_words(layout, ruler, {x, y}, chart.title, size.x, style::Text::title, Ink::text);
  layout.charts.push_back({&chart, {x, y + top}, size});
  const float below = y + top + size.y + ruler.px(4);
  const auto count = static_cast<float>(chart.columns.size());
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const float size_of_letters = ruler.px(letters);
    const FormulaSize extent = ruler.formula(chart.columns[i], size_of_letters);
    const float at = x + (size.x - extent.width) * static_cast<float>(i) / std::max(count - 1, 1.0F);
    layout.formulas.push_back({{at, below}, chart.columns[i], size_of_letters, extent, Ink::dim});
  }
  const float line = ruler.words("0", style::Text::caption, -1).y;
  place_words(layout, ruler, {x, below + foot - line - ruler.px(6)}, chart.words, size.x,
              style::Text::caption, Ink::dim);
}

}  // namespace palimpsest
