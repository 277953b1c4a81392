// One token: its steps as a strip of tiles (the picture of what a step makes, its equation, its words), and
// below them the step at the cursor, large.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float hero_gap = 12;        // below the tiles,
constexpr float low_gap = 6;          // and below low ones
constexpr float without_tiles = 150;  // the height below which the step needs all of it
constexpr float low_room = 330;       // and below which the tiles are low

constexpr float usual_height = 62;
constexpr float low_height = 46;  // where there is little room below
constexpr float tile_gap = 8;
constexpr float widest_tile = 236;
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

class TilesLayout : public Placing {
 public:
  TilesLayout(StageLayout& layout, const StageView& view, const Ruler& ruler)
      : Placing(layout, ruler), view_(view) {}

  /// As many tiles around the present one as fit into `width`, and how many others there are.
  void place(ImVec2 origin, float width, float height) {
    const float gap = px(tile_gap);
    const std::size_t count = view_.tiles.size();
    const auto present = static_cast<std::size_t>(view_.present_operation);
    const auto fitting = [&](float room) {
      return static_cast<std::size_t>(std::max((room + gap) / (px(least_width) + gap), 1.0F));
    };
    std::size_t first = 0;
    std::size_t shown = count;
    float left = origin.x;
    float room = width;
    if (fitting(width) < count) {
      room = std::max(width - 2 * px(link_width), px(least_width));
      shown = std::min(fitting(room), count);
      first = std::min(present - std::min(present, shown / 2), count - shown);
      left += px(link_width);
      const ImVec2 at = {origin.x, origin.y + (height - px(16)) / 2};
      if (first > 0) place_link(first, "before", first - 1, at, false);
      if (const std::size_t hidden = count - first - shown; hidden > 0)
        place_link(hidden, "to come", first + shown, {at.x + width, at.y}, true);
    }
    const auto number = static_cast<float>(shown);
    size_ = {std::floor(std::min((room - gap * (number - 1)) / number, px(widest_tile))), height};
    left += std::floor((room - size_.x * number - gap * (number - 1)) / 2);
    arrange(first, shown);
    for (std::size_t i = first; i < first + shown; ++i)
      place_tile(i, {left + static_cast<float>(i - first) * (size_.x + gap), origin.y});
  }

 private:
  enum class Arrangement {
    wide,    // the equation, and the words below it
    beside,  // the symbol, and the words below it, few
    below    // the words below all else
  };

  void place_link(std::size_t hidden, const std::string& where, std::size_t target, ImVec2 at, bool ends) {
    const StageTile& tile = view_.tiles[target];
    link(fmt::format("{} {}", hidden, where), at, ends, where, tile.operation, tile.words);
  }

  /// All tiles in sight are laid out alike.
  void arrange(std::size_t first, std::size_t count) {
    arrangement_ = Arrangement::below;
    if (size_.y >= px(usual_height)) {
      if (size_.x >= px(with_equation)) arrangement_ = Arrangement::wide;
      return;
    }
    const float room = size_.x - px(low_thumbnail + 6 + 7 + 4);
    const auto tiles = view_.tiles.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::all_of(tiles, tiles + static_cast<std::ptrdiff_t>(count),
                    [&](const StageTile& tile) { return extent(brief(tile.words)).x <= room; }))
      arrangement_ = Arrangement::beside;
  }

  void place_tile(std::size_t index, ImVec2 position) {
    const StageTile& tile = view_.tiles[index];
    layout_.tiles.push_back({index, position, size_});
    const bool is_wide = arrangement_ == Arrangement::wide;
    const bool is_below = arrangement_ == Arrangement::below;
    const float padding = px(is_wide ? 8 : 6);
    const float line = px(words_line);
    const float side = is_below ? size_.y - line - px(6) : px(is_wide ? thumbnail : low_thumbnail);
    const float middle = is_below ? px(4) + side / 2 : size_.y / 2;
    place_thumbnail(tile.picture, {position.x + padding, position.y + middle - side / 2}, side);
    const float x = position.x + padding + side + px(is_wide ? 10 : 7);
    const float room = position.x + size_.x - px(4) - x;
    if (is_below) {
      place_equation(tile, {x, position.y + px(4) + side / 2}, room, false);
      place_tile_words(tile, {position.x + padding, position.y + size_.y - line}, size_.x - 2 * padding);
      return;
    }
    const float top = position.y + px(is_wide ? 9 : 3);
    place_equation(tile, {x, top + px(is_wide ? 24 : 21) / 2}, room, is_wide);
    place_tile_words(tile, {x, position.y + px(is_wide ? 38 : 26)}, room);
  }

  /// All of them, or fewer where they would be cut.
  void place_tile_words(const StageTile& tile, ImVec2 position, float room) {
    std::string said = tile.words;
    if (extent(said).x > room) said = brief(tile.words);
    if (extent(said).x > room) said = briefest(said);
    words(said, position, {.room = room});
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
    const auto longest = static_cast<float>(std::max(picture.rows, picture.columns));
    const auto length = [&](Index count) {
      return std::max(std::round(side * static_cast<float>(count) / longest), px(thin_thumbnail));
    };
    const ImVec2 size = {length(picture.columns), length(picture.rows)};
    layout_.pictures.push_back(
        {&picture,
         {std::round(corner.x + (side - size.x) / 2), std::round(corner.y + (side - size.y) / 2)},
         size,
         true});
  }

  /// The equation where it fits, else the symbol alone.
  void place_equation(const StageTile& tile, ImVec2 at, float room, bool with_all) {
    const bool has_all = with_all && formula_width(tile.latex, equation_size) <= room;
    formula(has_all ? tile.latex : tile.symbol, at, {.size = equation_size, .own = {0, 0.5F}, .room = room});
  }

  const StageView& view_;
  ImVec2 size_ = {};  // of a tile
  Arrangement arrangement_ = Arrangement::below;
};

}  // namespace

StageLayout lay_out_token(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  StageLayout layout;
  float top = 0;
  if (room.y >= ruler.px(without_tiles) && view.tiles.size() > 1) {
    const bool is_low = room.y < ruler.px(low_room);
    const float height = ruler.px(is_low ? low_height : usual_height);
    TilesLayout(layout, view, ruler).place(origin, room.x, height);
    top = height + ruler.px(is_low ? low_gap : hero_gap);
  }
  lay_out_hero(layout, view.hero, {origin.x, origin.y + top}, {room.x, room.y - top}, ruler);
  return layout;
}

}  // namespace palimpsest
