// Lines over the steps inside an operation.

#include <algorithm>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float title_height = 26;
constexpr float foot_height = 24;  // the words below
constexpr float widest = 760;
constexpr float highest = 390;

}  // namespace

void lay_out_chart(StageLayout& layout, const HeroChart& chart, ImVec2 origin, ImVec2 room,
                   const Ruler& ruler) {
  const float top = ruler.px(title_height);
  const float foot = ruler.px(foot_height);
  const ImVec2 size = {std::min(room.x, ruler.px(widest)),
                       std::clamp(room.y - top - foot, ruler.px(44), ruler.px(highest))};
  const float x = origin.x + (room.x - size.x) / 2;
  const float y = origin.y + std::max((room.y - size.y - top - foot) / 2, 0.0F);
  place_words(layout, ruler, {x, y}, chart.title, size.x, style::Text::title, Ink::text);
  layout.charts.push_back({&chart, {x, y + top}, size});
  const float line = ruler.words("0", style::Text::caption, -1).y;
  place_words(layout, ruler, {x, y + top + size.y + foot - line}, chart.words, size.x, style::Text::caption,
              Ink::dim);
}

}  // namespace palimpsest
