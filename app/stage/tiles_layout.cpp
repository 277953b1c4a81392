// The steps of a token as a strip of tiles: the picture of what a step makes, its equation, its words.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float usual_height = 62;
constexpr float low_height = 40;  // where there is little room below
constexpr float tile_gap = 8;
constexpr float widest = 236;
constexpr float with_equation = 170;  // from this width on
constexpr float with_words = 102;     // the words stand on two lines
constexpr float least_width = 84;
constexpr float link_width = 76;  // of "5 before" beside the tiles
constexpr float thumbnail = 48;
constexpr float small_thumbnail = 28;
constexpr float thin_thumbnail = 12;  // of a vector
constexpr float equation_size = 15;
constexpr float caption_line = 15;

class TilesLayout {
 public:
  TilesLayout(StageLayout& layout, const Ruler& ruler, float height)
      : layout_(layout), ruler_(ruler), height_(height) {}

  void place(const StageTile& tile, std::size_t index, ImVec2 position, float width) {
    const float height = height_;
    const bool is_low = height < ruler_.px(usual_height);
    layout_.tiles.push_back({index, position, {width, height}});
    const bool is_wide = !is_low && width >= ruler_.px(with_equation);
    const float padding = ruler_.px(is_wide ? 8 : 6);
    const float side = ruler_.px(is_wide ? thumbnail : small_thumbnail);
    place_thumbnail(tile.picture, {position.x + padding, position.y + (height - side) / 2}, side);
    const float x = position.x + padding + side + ruler_.px(is_wide ? 10 : 7);
    const float room = position.x + width - ruler_.px(6) - x;
    if (is_wide) {
      place_formula(tile, x, position.y + ruler_.px(9), ruler_.px(24), room, true);
      place_words(layout_, ruler_, {x, position.y + ruler_.px(38)}, tile.words, room, style::Text::caption,
                  Ink::dim);
      return;
    }
    const ImVec2 words = ruler_.words(tile.words, style::Text::caption, room);
    const bool fits = !is_low && width >= ruler_.px(with_words) && words.x <= room &&
                      words.y <= ruler_.px(2 * caption_line);
    const float top = fits ? position.y + ruler_.px(6) : position.y + (height - ruler_.px(22)) / 2;
    place_formula(tile, x, top, ruler_.px(22), room, false);
    if (!fits) return;
    layout_.words.push_back({.position = {x, position.y + height - ruler_.px(4) - words.y},
                             .words = tile.words,
                             .ink = Ink::dim,
                             .wrap = room,
                             .extent = words});
  }

 private:
  void place_thumbnail(const Box& picture, ImVec2 corner, float side) {
    if (picture.kind == Box::Kind::number) {
      const ImVec2 size = ruler_.number(picture.digits, std::min(ruler_.largest_number, 13.0F));
      layout_.pictures.push_back(
          {&picture,
           {corner.x + std::max((side - size.x) / 2, 0.0F), corner.y + (side - size.y) / 2},
           {std::min(size.x, side), size.y},
           true});
      return;
    }
    const auto rows = static_cast<float>(picture.rows);
    const auto columns = static_cast<float>(picture.columns);
    const float longest = std::max(rows, columns);
    const float thin = ruler_.px(thin_thumbnail);
    const ImVec2 size = {std::max(std::round(side * columns / longest), thin),
                         std::max(std::round(side * rows / longest), thin)};
    layout_.pictures.push_back(
        {&picture,
         {std::round(corner.x + (side - size.x) / 2), std::round(corner.y + (side - size.y) / 2)},
         size,
         true});
  }

  /// The equation where it fits, else the symbol alone; centred in `height`.
  void place_formula(const StageTile& tile, float x, float top, float height, float room, bool with_all) {
    float letters = ruler_.px(equation_size);
    FormulaSize extent;
    const std::string* latex = &tile.latex;
    const auto fits = [&] {
      extent = ruler_.formula(*latex, letters);
      return extent.width <= room;
    };
    if (!with_all || !fits()) {
      latex = &tile.symbol;
      if (!fits()) letters *= room / std::max(extent.width, 1.0F);
      extent = ruler_.formula(*latex, letters);
    }
    layout_.formulas.push_back({{x, top + (height - extent.height) / 2}, *latex, letters, extent, Ink::dim});
  }

  StageLayout& layout_;
  const Ruler& ruler_;
  float height_;
};

}  // namespace

float lay_out_tiles(StageLayout& layout, const StageView& view, ImVec2 origin, float width, bool is_low,
                    const Ruler& ruler) {
  const float height = ruler.px(is_low ? low_height : usual_height);
  const float gap = ruler.px(tile_gap);
  const std::size_t count = view.tiles.size();
  const auto present = static_cast<std::size_t>(view.present_operation);
  const auto fitting = [&](float room) {
    return static_cast<std::size_t>(std::max((room + gap) / (ruler.px(least_width) + gap), 1.0F));
  };
  std::size_t first = 0;
  std::size_t shown = count;
  float left = origin.x;
  float room = width;
  if (fitting(width) < count) {
    room = std::max(width - 2 * ruler.px(link_width), ruler.px(least_width));
    shown = std::min(fitting(room), count);
    first = std::min(present - std::min(present, shown / 2), count - shown);
    left += ruler.px(link_width);
    const float middle = origin.y + (height - ruler.px(16)) / 2;
    const auto link = [&](float x, std::size_t hidden, const std::string& where, std::size_t target,
                          bool ends) {
      if (hidden == 0) return;
      place_link(layout, ruler, {x, middle}, fmt::format("{} {}", hidden, where), where,
                 view.tiles[target].operation, view.tiles[target].words, ends);
    };
    link(origin.x, first, "before", first - 1, false);
    link(origin.x + width, count - first - shown, "to come", first + shown, true);
  }
  const auto number = static_cast<float>(shown);
  const float each = std::floor(std::min((room - gap * (number - 1)) / number, ruler.px(widest)));
  left += std::floor((room - each * number - gap * (number - 1)) / 2);
  TilesLayout tiles(layout, ruler, height);
  for (std::size_t i = 0; i < shown; ++i)
    tiles.place(view.tiles[first + i], first + i, {left + static_cast<float>(i) * (each + gap), origin.y},
                each);
  return height;
}

}  // namespace palimpsest
