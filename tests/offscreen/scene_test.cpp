// Where the nodes of a scene lie, without a screen, and that each kind is drawn.

#include <cmath>
#include <set>

#include "app/scene/parts.h"
#include "app/scene/window.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/letter_ruler.h"

using namespace palimpsest;
using scene::Gap;
using scene::Node;
using scene::Placed;

namespace {

const Ruler ruler = testing::ruler_of(1);

Placed placed_in(const Node& node, float width, float height) {
  return scene::lay_out(node, {{10, 20}, {10 + width, 20 + height}}, ruler);
}

/// Every node without nodes in it, in the order of reading.
std::vector<const Placed*> leaves(const Placed& placed) {
  if (placed.inside.empty()) return {&placed};
  std::vector<const Placed*> all;
  for (const Placed& inside : placed.inside)
    for (const Placed* leaf : leaves(inside)) all.push_back(leaf);
  return all;
}

float placed_width(const Placed& placed) { return placed.size().x; }

/// A bit of everything, as panels have it.
Node panel() {
  return scene::column({
      scene::heading("What is in these times"),
      scene::row({scene::mark(scene::Mark::Kind::tick),
                  scene::caption("decays, masks and solves, all heads").filling()}),
      scene::row(
          {scene::caption("device"), scene::line("an unusually long name of a processor").filling().right()}),
      scene::rule(),
      scene::grid(3, {scene::caption("Recurrent"), scene::number("28.8k"),
                      scene::paragraph("steps in a row").filling(), scene::caption("Two-pass"),
                      scene::number("9"), scene::paragraph("few").filling()}),
      scene::flow({scene::pill("one"), scene::pill("another"), scene::pill("as it was")}),
      scene::segments({"before", "after"}, 0, [](std::size_t) {}),
      scene::formula("\\beta\\lVert k\\rVert^2\\le 2"),
  });
}

}  // namespace

TEST_CASE("nothing overlaps and nothing leaves a scene's width where there is room for a word", "[scene]") {
  for (const float width : {200.0F, 260.0F, 400.0F, 1200.0F}) {
    CAPTURE(width);
    const Node node = panel();
    const Placed placed = placed_in(node, width, 2000);
    const std::vector<const Placed*> all = leaves(placed);
    for (const Placed* one : all) {
      CHECK(one->where.minimum.x >= 10);
      CHECK(one->where.minimum.y >= 20);
      CHECK(one->where.maximum.x <= 10 + width + 0.5F);
      for (const Placed* other : all) {
        if (one != other) CHECK_FALSE(overlap(one->where, other->where, 0.5F));
      }
    }
  }
}

TEST_CASE("a scene is laid out in no room, and in one pixel", "[scene]") {
  for (const float side : {0.0F, 1.0F, 3.0F}) {
    const Node node = panel();
    const Placed placed = placed_in(node, side, side);
    for (const Placed* leaf : leaves(placed)) {
      CHECK(std::isfinite(leaf->where.minimum.x));
      CHECK(leaf->where.maximum.x >= leaf->where.minimum.x);
      CHECK(leaf->where.maximum.y >= leaf->where.minimum.y);
    }
  }
  const Node none = scene::row({});
  CHECK(placed_width(placed_in(none, 100, 100)) == 0);
  const Node no_cells = scene::grid(3, {});
  CHECK(placed_width(placed_in(no_cells, 100, 100)) == 0);
}

TEST_CASE("words that are too wide go on below, are cut, or stay whole", "[scene]") {
  const std::string long_word(200, 'x');
  const Node wrapped = scene::paragraph(long_word);
  CHECK(placed_in(wrapped, 100, 100).lines.size() > 10);
  CHECK(placed_width(placed_in(wrapped, 100, 100)) <= 100);
  const Node cut = scene::line(long_word);
  CHECK(placed_in(cut, 100, 100).lines.size() == 1);
  CHECK(placed_width(placed_in(cut, 100, 100)) <= 100);
  const Node whole = scene::number(long_word);
  CHECK(placed_width(placed_in(whole, 100, 100)) > 100);
}

TEST_CASE("what shares the rest of a row takes what the others leave", "[scene]") {
  const Node node = scene::row({scene::caption("name").fixed(60), scene::line("one").filling(1),
                                scene::line("two").filling(3).right()},
                               Gap::near);
  const Placed placed = placed_in(node, 476, 20);
  CHECK(placed.inside[1].where.minimum.x == 10 + 60 + 8);
  CHECK(placed.inside[2].where.maximum.x == 10 + 476);
  CHECK(placed_width(placed) == 476);
  // In a column they share the height.
  const Node tall =
      scene::column({scene::caption("above"), scene::rest(), scene::caption("below")}, Gap::none);
  CHECK(std::abs(placed_in(tall, 100, 300).inside[2].where.maximum.y - 320) < 1);  // in whole pixels
}

TEST_CASE("the columns of a grid are as wide as their widest cells", "[scene]") {
  const Node node = scene::grid(2, {scene::caption("a"), scene::line("first").filling(),
                                    scene::caption("longest"), scene::line("second").filling()});
  const Placed placed = placed_in(node, 300, 100);
  CHECK(placed.inside[1].where.minimum.x == placed.inside[3].where.minimum.x);
  CHECK(placed.inside[1].where.minimum.x == placed.inside[2].where.maximum.x + 8);
}

TEST_CASE("of several wishes the first is taken that fits both ways", "[scene]") {
  const Node node =
      scene::first_that_fits({scene::number("recalled 34 %, now 30 %"), scene::number("34 → 30 %"),
                              scene::line("34 %, and what is cut")});
  const auto shown = [&](float width) { return placed_in(node, width, 50).inside.front().lines.front(); };
  CHECK(shown(400) == "recalled 34 %, now 30 %");
  CHECK(shown(100) == "34 → 30 %");
  CHECK(shown(20).size() < 5);
  const Node high = scene::first_that_fits({scene::column({panel(), panel()}), scene::caption("little")});
  CHECK(placed_in(high, 300, 40).inside.front().lines.front() == "little");
}

TEST_CASE("a node reads as what it and its unnamed nodes say", "[scene]") {
  const Node node =
      scene::row({scene::caption("off by"), scene::number("4e-16"), scene::caption("apart").named("other")})
          .named("line");
  CHECK(scene::words_of(placed_in(node, 400, 40)) == "off by 4e-16");
  CHECK(scene::piece_of(node) == "line");
  CHECK(scene::piece_of(scene::pill("go on")) == "go on");
}

TEST_CASE("parts are found by path and read as indented text", "[scene]") {
  Parts parts;
  parts.add({"learn", {}, "Learn"});
  parts.add({"learn/side", {}, ""});
  parts.add({"learn/sideways", {}, "no part of it"});
  parts.add({"learn/side/loss", {}, "0.3"});
  CHECK(parts.find("learn/side/loss")->words == "0.3");
  CHECK(parts.find("loss") == nullptr);
  CHECK(parts.below("learn/side").size() == 2);
  CHECK(testing::said_by("learn", "loss", parts) == std::vector<std::string>{"0.3"});
  CHECK(parts.text() == "learn: Learn\n  side\n  sideways: no part of it\n    loss: 0.3\n");
}

TEST_CASE("every kind of node draws something", "[scene]") {
  testing::DarkOffscreen offscreen(240, 160);
  const auto picture = [&](const Node& node) {
    return offscreen
        .render([&] {
          testing::in_window({240, 160}, [&] { scene::show_in(node, {220, 140}); });
        })
        .rgb;
  };
  const ImU32 ink = IM_COL32_WHITE;
  const Matrix<double> ones = Matrix<double>::Ones(2, 2);
  const Node word = scene::line("word");
  const auto painted = [&](const Rectangle& where) {
    ImGui::GetWindowDrawList()->AddRectFilled(where.minimum, where.maximum, ink);
  };
  const CellTables cells = {.tables = {{.name = "table", .values = ones}},
                            .rows = {{.words = "a"}, {.words = "b"}},
                            .columns = {{.words = "c"}, {.words = "d"}},
                            .written = [](double, Cell) { return std::vector<std::string>{"1"}; }};
  Plot plot{.name = "plot"};
  plot.series.push_back({.name = "line", .x = {0, 1}, .y = {0, 1}, .look = {.colour = ink}});
  // The outline has the colour of the ground, so that it is the numbers that are seen.
  scene::Nodes all = {word,
                      scene::formula("S_t"),
                      scene::Picture{.values = &ones, .version = 1, .outline = style::colours().background},
                      scene::Bar{.value = 1, .ink = ink},
                      scene::Track{.value = 0.5, .ink = ink, .below = ink, .beyond = ink},
                      scene::Sparkline{.values = {1, 0.5}, .ink = ink},
                      scene::pill("word"),
                      scene::Slider{.words = "word", .value = 0.5, .look = {.maximum = 1}},
                      scene::Menu{.words = "word"},
                      scene::Squares{.columns = {{}}, .squares = {{.ink = ink}}},
                      scene::Drawn{.draw = painted},
                      scene::rule(),
                      scene::row({word}),
                      scene::column({word}),
                      scene::grid(1, {word}),
                      scene::first_that_fits({word}),
                      scene::steady({word}),
                      scene::framed(word, Gap::near, Gap::near),
                      scene::scroll("scroll", word),
                      scene::plotted(std::move(plot)),
                      cells,
                      scene::Sides{.columns = {scene::column({word})}},
                      scene::Over{.nodes = {word}},
                      scene::Spots{.nodes = {word}, .places = {{.room = {100, 20}}}}};
  for (int kind = 0; kind <= static_cast<int>(scene::Mark::Kind::spinner); ++kind)
    all.push_back(Node{scene::Mark{.kind = static_cast<scene::Mark::Kind>(kind),
                                   .ink = ink,
                                   .look = {.colour = ink, .marker = PlotMarker::circle}}});
  FilterBox filter;
  all.push_back(Node{scene::Input{.text = "word"}});  // these take the keyboard, so they come last
  all.push_back(Node{scene::Filter{.box = &filter, .hint = "word"}});
  all.push_back(Node{scene::Editor{.text = "word"}}.named("editor"));

  const auto empty = picture(scene::space(Gap::near));
  std::set<std::size_t> kinds;
  for (const Node& node : all) {
    CAPTURE(node.content.index());
    kinds.insert(node.content.index());
    const bool draws_something = picture(node) != empty;
    CHECK(draws_something);
  }
  CHECK(kinds.size() == std::variant_size_v<scene::AnyContent> - 1);  // all but room
}
