#include "app/scene/plot_labels.h"

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

TEST_CASE("labels are spread without overlapping, each as near to its wish as can be", "[label]") {
  const auto tops = [](const std::vector<WantedLabel>& wanted) { return spread(wanted, 0, 100); };
  CHECK(tops({}).empty());
  CHECK(tops({{10, 20}, {50, 20}}) == std::vector<float>{10, 50});  // have room
  CHECK(tops({{40, 20}, {40, 20}}) == std::vector<float>{30, 50});  // share the way
  CHECK(tops({{50, 20}, {40, 20}}) == std::vector<float>{55, 35});  // keep their order
  CHECK(tops({{-30, 20}, {95, 20}}) == std::vector<float>{0, 80});  // stay inside
  CHECK(tops({{90, 20}, {90, 20}, {90, 20}}) == std::vector<float>{40, 60, 80});
  // What has no room has no place: the last ones.
  CHECK(tops({{0, 60}, {50, 40}, {10, 20}}) == std::vector<float>{0, 60});
  // Many at random never overlap and stay inside.
  unsigned bits = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<WantedLabel> wanted;
    for (int i = 0; i < 6; ++i) {
      bits = bits * 1664525U + 1013904223U;
      wanted.push_back(
          {static_cast<float>(bits >> 24) * 0.6F - 20, 8 + static_cast<float>(bits >> 28) * 0.5F});
    }
    const std::vector<float> found = tops(wanted);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] >= -1e-3F);
      CHECK(found[i] + wanted[i].height <= 100 + 1e-3F);
      for (std::size_t j = 0; j < i; ++j) {
        const bool apart = found[i] + wanted[i].height <= found[j] + 1e-3F ||
                           found[j] + wanted[j].height <= found[i] + 1e-3F;
        CHECK(apart);
      }
    }
  }
}
