// The steps of a token as a strip of tiles: the picture of what a step makes, its equation, its words.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float usual_height = 62;
constexpr float low_height = 46;  // where there is little room below
constexpr float tile_gap = 8;
constexpr float widest = 236;
constexpr float with_equation = 170;  // from this width on
constexpr float least_width = 84;
constexpr float link_width = 76;  // of "5 before" beside the tiles
constexpr float thumbnail = 48;
constexpr float low_thumbnail = 34;
constexpr float thin_thumbnail = 12;  // of a vector
constexpr float equation_size = 15;
constexpr float words_line = 18;  // below the rest of a tile

/// "what is kept" as "kept", "memory after" as "after", "what is left of each key, as gates say" as "left of
/// each key".
std::string brief(std::string words) {
  words = words.substr(0, words.find(','));
  for (const std::string_view start : {"what is ", "what ", "the ", "memory "}) {
    if (words.starts_with(start) && words.size() > start.size()) return words.substr(start.size());
  }
  return words;
}

/// "left of each key" as "left", "gradients so far" as "gradients": up to what only says more of it.
std::string briefest(const std::string& words) {
  const std::size_t start = words.starts_with("the ") ? 4 : 0;
  std::size_t end = words.size();
  for (const std::string_view more : {" of ", " that ", " along ", " before ", " at ", " so far", " the step",
                                      " are ", " is ", " there", " get", " yet", " values"})
    end = std::min(end, words.find(more));
  return words.substr(start, end - start);
}

class TilesLayout {
 public:
  /// Of tiles `width` wide and `height` high.
  TilesLayout(StageLayout& layout, const Ruler& ruler, ImVec2 size)
      : layout_(layout), ruler_(ruler), size_(size) {}

  /// Says which tiles there are: all are laid out alike.
  void prepare(std::span<const StageTile> tiles) {
    if (size_.y >= ruler_.px(usual_height)) {
      arrangement_ = size_.x >= ruler_.px(with_equation) ? Arrangement::wide : Arrangement::below;
      return;
    }
    const float room = size_.x - ruler_.px(low_thumbnail + 6 + 7 + 4);
    const bool all_fit = std::ranges::all_of(tiles, [&](const StageTile& tile) {
      return ruler_.words(brief(tile.words), style::Text::caption, -1).x <= room;
    });
    arrangement_ = all_fit ? Arrangement::beside : Arrangement::below;
  }

  void place(const StageTile& tile, std::size_t index, ImVec2 position) {
    layout_.tiles.push_back({index, position, size_});
    const bool is_wide = arrangement_ == Arrangement::wide;
    const bool is_below = arrangement_ == Arrangement::below;
    const float padding = ruler_.px(is_wide ? 8 : 6);
    const float line = ruler_.px(words_line);
    const float side =
        is_below ? size_.y - line - ruler_.px(6) : ruler_.px(is_wide ? thumbnail : low_thumbnail);
    const float middle = is_below ? ruler_.px(4) + side / 2 : size_.y / 2;
    place_thumbnail(tile.picture, {position.x + padding, position.y + middle - side / 2}, side);
    const float x = position.x + padding + side + ruler_.px(is_wide ? 10 : 7);
    const float room = position.x + size_.x - ruler_.px(4) - x;
    if (is_below) {
      place_formula(tile, x, position.y + ruler_.px(4), side, room, false);
      place_tile_words(tile, {position.x + padding, position.y + size_.y - line}, size_.x - 2 * padding);
      return;
    }
    const float top = position.y + ruler_.px(is_wide ? 9 : 3);
    place_formula(tile, x, top, ruler_.px(is_wide ? 24 : 21), room, is_wide);
    place_tile_words(tile, {x, position.y + ruler_.px(is_wide ? 38 : 26)}, room);
  }

 private:
  enum class Arrangement {
    wide,    // the equation, and the words below it
    beside,  // the symbol, and the words below it, few
    below    // the words below all else
  };

  /// All of them, or fewer where they would be cut.
  void place_tile_words(const StageTile& tile, ImVec2 position, float room) {
    std::string words = tile.words;
    const auto is_cut = [&] { return ruler_.words(words, style::Text::caption, -1).x > room; };
    if (is_cut()) words = brief(tile.words);
    if (is_cut()) words = briefest(words);
    place_words(layout_, ruler_, position, words, room, style::Text::caption, Ink::dim);
  }

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
  ImVec2 size_;
  Arrangement arrangement_ = Arrangement::below;
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
  TilesLayout tiles(layout, ruler, {each, height});
  tiles.prepare(std::span(view.tiles).subspan(first, shown));
  for (std::size_t i = 0; i < shown; ++i)
    tiles.place(view.tiles[first + i], first + i, {left + static_cast<float>(i) * (each + gap), origin.y});
  return height;
}

}  // namespace palimpsest
