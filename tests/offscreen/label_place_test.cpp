#include "app/widgets/label_place.h"

#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

namespace {

constexpr Rectangle room = {{0, 0}, {400, 200}};
constexpr ImVec2 extent = {60, 12};

Rectangle placed(ImVec2 at) { return {at, {at.x + extent.x, at.y + extent.y}}; }

}  // namespace

TEST_CASE("words stand where they are wished, unless something is there", "[label]") {
  Offscreen offscreen(640, 400);
  offscreen.pass([&] {
    const ImVec2 wish = {100, 50};
    const ImVec2 free = free_place(room, {}, wish, extent).at;
    CHECK(free.x == wish.x);
    CHECK(free.y == wish.y);
    const Taken box = {.boxes = {{{90, 40}, {170, 70}}}};
    CHECK_FALSE(overlap(placed(free_place(room, box, wish, extent).at), box.boxes.front()));
    const Taken line = {.lines = {{{0, 60}, {200, 50}, {400, 60}}}};
    CHECK(crosses(line.lines.front(), placed(wish)));
    CHECK_FALSE(crosses(line.lines.front(), placed(free_place(room, line, wish, extent).at)));
    const Taken upright = {.lines = {{{120, 0}, {120, 200}}}};
    CHECK(crosses(upright.lines.front(), placed(wish)));
    CHECK_FALSE(crosses(upright.lines.front(), placed(free_place(room, upright, wish, extent).at)));
  });
}

TEST_CASE("words in a full room lie over a curve sooner than over words, and never outside", "[label]") {
  Offscreen offscreen(640, 400);
  offscreen.pass([&] {
    Taken taken;
    for (float y = 0; y <= 200; y += 4) taken.lines.push_back({{0, y}, {400, y}});
    taken.boxes.push_back({{0, 0}, {200, 200}});
    const LabelPlace place = free_place(room, taken, {150, 100}, extent);
    CHECK_FALSE(place.is_free);
    const ImVec2 at = place.at;
    CHECK_FALSE(overlap(placed(at), taken.boxes.front()));
    CHECK(at.x + extent.x <= room.maximum.x);
    const ImVec2 beyond = free_place(room, {}, {390, 300}, extent).at;
    CHECK(beyond.x == room.maximum.x - extent.x);
    CHECK(beyond.y == room.maximum.y - extent.y);
    const ImVec2 wide =
        free_place(room, {}, {390, 300}, {500, 12}).at;  // wider than the room: from its left on
    CHECK(wide.x == room.minimum.x);
  });
}
