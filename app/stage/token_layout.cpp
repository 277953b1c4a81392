// One token: its steps as tiles, and below them the step at the cursor, large.

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float hero_gap = 12;        // below the tiles,
constexpr float low_gap = 6;          // and below low ones
constexpr float without_tiles = 150;  // the height below which the step needs all of it
constexpr float low_room = 330;       // and below which the tiles are low

}  // namespace

StageLayout lay_out_token(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  StageLayout layout;
  float top = 0;
  if (room.y >= ruler.px(without_tiles) && view.tiles.size() > 1) {
    const bool is_low = room.y < ruler.px(low_room);
    top = lay_out_tiles(layout, view, origin, room.x, is_low, ruler) + ruler.px(is_low ? low_gap : hero_gap);
  }
  lay_out_hero(layout, view.hero, {origin.x, origin.y + top}, {room.x, room.y - top}, ruler);
  return layout;
}

}  // namespace palimpsest
