// One token: its steps as a strip of tiles (the picture of what a step makes, its equation, its words), and
// below them the step at the cursor, large.

#include <fmt/format.h>

#include "app/stage/draw.h"
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

/// "memory after" as "after", "what the memory returns" as "the memory returns".
std::string brief(std::string words) {
  words = words.substr(0, words.find(','));
  for (const std::string_view start : {"what is ", "what ", "the ", "memory "}) {
    if (words.starts_with(start) && words.size() > start.size()) return words.substr(start.size());
  }
  return words;
}

/// "decay of each key" as "decay", "error e = v − v̂" as "error": up to what only says more of it.
std::string briefest(const std::string& words) {
  const std::size_t start = words.starts_with("the ") ? 4 : 0;
  std::size_t end = words.size();
  for (const std::string_view more : {" of ", " that ", " along ", " before ", " at ", " so far", " the step",
                                      " are ", " is ", " e =", " v", " after ", " minus "})
    end = std::min(end, words.find(more));
  return words.substr(start, end - start);
}

class TilesLayout {
 public:
  explicit TilesLayout(Placing& placing) : placing_(placing), view_(placing.view()) {}

  /// As many tiles around the present one as fit into `width`, and how many others there are.
  void place(float width, float height) {
    const float gap = px(tile_gap);
    const std::size_t count = view_.tiles.size();
    const auto present = static_cast<std::size_t>(view_.present_operation);
    const auto fitting = [&](float room) {
      return static_cast<std::size_t>(std::max((room + gap) / (px(least_width) + gap), 1.0F));
    };
    std::size_t first = 0;
    std::size_t shown = count;
    float left = 0;
    float room = width;
    if (fitting(width) < count) {
      room = std::max(width - 2 * px(link_width), px(least_width));
      shown = std::min(fitting(room), count);
      first = std::min(present - std::min(present, shown / 2), count - shown);
      left += px(link_width);
      const float y = (height - px(16)) / 2;
      if (first > 0) place_link(first, "before", first - 1, {0, y}, false);
      if (const std::size_t hidden = count - first - shown; hidden > 0)
        place_link(hidden, "to come", first + shown, {width, y}, true);
    }
    const auto number = static_cast<float>(shown);
    size_ = {std::floor(std::min((room - gap * (number - 1)) / number, px(widest_tile))), height};
    left += std::floor((room - size_.x * number - gap * (number - 1)) / 2);
    arrange(first, shown);
    for (std::size_t i = first; i < first + shown; ++i)
      place_tile(view_.tiles[i], left + static_cast<float>(i - first) * (size_.x + gap));
  }

 private:
  enum class Arrangement {
    wide,    // the equation, and the words below it
    beside,  // the symbol, and the words below it, few
    below    // the words below all else
  };

  float px(float design_pixels) const { return placing_.px(design_pixels); }

  void place_link(std::size_t hidden, const std::string& where, std::size_t target, ImVec2 at, bool ends) {
    const StageTile& tile = view_.tiles[target];
    placing_.link(fmt::format("{} {}", hidden, where), at, ends, where, tile.operation, tile.words);
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
                    [&](const StageTile& tile) { return placing_.extent(brief(tile.words)).x <= room; }))
      arrangement_ = Arrangement::beside;
  }

  void place_tile(const StageTile& tile, float left) {
    place_outline(tile, left);
    const bool is_wide = arrangement_ == Arrangement::wide;
    const bool is_below = arrangement_ == Arrangement::below;
    const float padding = px(is_wide ? 8 : 6);
    const float line = px(words_line);
    const float side = is_below ? size_.y - line - px(6) : px(is_wide ? thumbnail : low_thumbnail);
    const float middle = is_below ? px(4) + side / 2 : size_.y / 2;
    const float taken = place_thumbnail(tile.picture, {left + padding, middle - side / 2}, side);
    const float x = left + padding + taken + px(is_wide ? 10 : 7);
    const float room = left + size_.x - px(4) - x;
    // All words, or fewer where they would be cut.
    const scene::Node said =
        scene::that_fits({tile.words, brief(tile.words), briefest(brief(tile.words))}).named("piece");
    if (is_below) {
      place_equation(tile, {x, px(4) + side / 2}, room);
      return placing_.put(said, {left + padding, size_.y - line}, {0, 0}, {size_.x - 2 * padding, unbounded});
    }
    place_equation(tile, {x, px(is_wide ? 21 : 13.5F)}, room);
    placing_.put(said, {x, px(is_wide ? 38 : 26)}, {0, 0}, {room, unbounded});
  }

  /// A click goes to the step. At the foot of the present one: how far its result has grown.
  void place_outline(const StageTile& tile, float left) {
    scene::Node outline = placing_.drawn(
        size_, [&tile](const Rectangle& where, StageScene& scene) { draw_tile(tile, where, scene); });
    placing_.put(std::move(outline)
                     .named(fmt::format("tile/{}", tile.operation))
                     .told(fmt::format("{}: {}", tile.words, tile.sentence))
                     .on(placing_.going_to(tile.operation)),
                 {left, 0});
    if (tile.operation == view_.present_operation)
      placing_.put(placing_.drawn(size_, draw_scrubber), {left, 0});
  }

  /// Returns the width that it takes: `side`, or more for a number.
  float place_thumbnail(const Box& picture, ImVec2 corner, float side) {
    if (picture.kind == Box::Kind::number) {
      const Ruler& ruler = placing_.ruler();
      const ImVec2 size = ruler.number(picture.digits, std::min(ruler.largest_number, 12.0F));
      const float width = std::max(side, size.x);
      placing_.picture(picture, corner + (ImVec2(width, side) - size) / 2, size, true);
      return width;
    }
    const auto longest = static_cast<float>(std::max(picture.rows, picture.columns));
    const auto length = [&](Index count) {
      return std::max(std::round(side * static_cast<float>(count) / longest), px(thin_thumbnail));
    };
    const ImVec2 size = {length(picture.columns), length(picture.rows)};
    placing_.picture(picture, rounded(corner + (ImVec2(side, side) - size) / 2), size, true);
    return side;
  }

  /// The equation where it fits, else the symbol alone.
  void place_equation(const StageTile& tile, ImVec2 at, float room) {
    const bool has_all =
        arrangement_ == Arrangement::wide && placing_.formula_width(tile.latex, equation_size) <= room;
    placing_.formula(has_all ? tile.latex : tile.symbol, at,
                     {.size = equation_size, .own = from_the_left, .room = room});
  }

  Placing& placing_;
  const StageView& view_;
  ImVec2 size_ = {};  // of a tile
  Arrangement arrangement_ = Arrangement::below;
};

}  // namespace

void lay_out_token(Placing& placing, ImVec2 room) {
  const auto px = [&](float design_pixels) { return placing.px(design_pixels); };
  float top = 0;
  if (room.y >= px(without_tiles) && placing.view().tiles.size() > 1) {
    const bool is_low = room.y < px(low_room);
    const float height = px(is_low ? low_height : usual_height);
    TilesLayout(placing).place(room.x, height);
    top = height + px(is_low ? low_gap : hero_gap);
  }
  lay_out_hero(placing, placing.view().hero, {0, top}, {room.x, room.y - top});
}

}  // namespace palimpsest
