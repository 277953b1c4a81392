// A plot as a value: its ticks, its parts, where its words stand, and what the pointer does in it.

#include <random>

#include "app/scene/plot.h"
#include "app/scene/plot_view.h"
#include "app/views/line_looks.h"
#include "app/widgets/chart.h"
#include "tests/offscreen/drawn.h"
#include "tests/vision.h"

using namespace palimpsest::testing;
using namespace palimpsest;

namespace {

std::vector<std::string> words_of(const std::vector<PlotTick>& ticks) {
  std::vector<std::string> words;
  for (const PlotTick& each : ticks) {
    if (!each.words.empty()) words.push_back(each.words);
  }
  return words;
}

Plot lines_plot() {
  Plot plot{.name = "lines", .x = {.title = {"steps"}, .high = 10}, .y = {.title = {"loss"}, .high = 2}};
  for (const double height : {0.5, 1.5}) {
    PlotSeries line{.name = height < 1 ? "low" : "high", .look = {.colour = style::colours().text}};
    line.label.words = {line.name};
    line.tip = [](std::size_t point) { return "point " + std::to_string(point); };
    for (int i = 0; i <= 10; ++i) {
      line.x.push_back(i);
      line.y.push_back(height);
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

PlotDone drawn(Offscreen& offscreen, const Plot& plot) {
  PlotDone done;
  pass_in_window(offscreen, {400, 300}, [&] {
    parts().clear();
    done = draw_plot(plot, {{20, 20}, {380, 280}});
    ImGui::Dummy({1, 1});
  });
  return done;
}

}  // namespace

TEST_CASE("ticks are decades with minor ones, octaves, round numbers, and those with names", "[plot]") {
  const PlotAxis decades{.scale = PlotAxis::Scale::log10};
  const std::vector<PlotTick> ticks = plot_ticks(decades, 1e-3, 10, 400, 20);
  CHECK(words_of(ticks) == std::vector<std::string>{"10⁻³", "10⁻²", "10⁻¹", "1", "10"});
  CHECK(ticks.size() == 5 + 4 * 8);
  CHECK(words_of(plot_ticks(decades, 1e-12, 1, 100, 20)).size() < 7);
  // Where decades are narrow 2 and 5 alone; of round numbers fifths or quarters of their distance.
  CHECK(plot_ticks(decades, 1e-3, 10, 80, 20).size() == 5 + 4 * 2);
  const PlotAxis even{};
  CHECK(plot_ticks(even, 0, 1, 400, 80).size() == 1 + 5 * 4);  // 0, 0.2, … 1
  CHECK(plot_ticks(even, 0, 10, 20, 10).size() == 3);
  const PlotAxis octaves{.scale = PlotAxis::Scale::octaves};
  CHECK(words_of(plot_ticks(octaves, 1, 8, 400, 20)) == std::vector<std::string>{"1", "2", "4", "8"});
  PlotAxis named{.named = {{.at = 0.3, .words = "edge"}, {.at = 3, .words = "beyond"}}};
  CHECK(words_of(plot_ticks(named, 0, 1, 100, 40)) == std::vector<std::string>{"0.0", "0.5", "1.0", "edge"});
  named.gap = 0.4;
  CHECK(words_of(plot_ticks(named, 0, 1, 100, 40)) == std::vector<std::string>{"0.5", "1.0", "edge"});
}

TEST_CASE("rules have colours of their own that words can have, told apart by the colour blind", "[plot]") {
  constexpr const char* compared[] = {"softmax",  "linear",         "retnet", "scalar_decay", "gla",
                                      "deltanet", "gated_deltanet", "kda",    "titans",       "lact"};
  for (const Theme theme : all_of<Theme>) {
    Offscreen offscreen(100, 100);
    style::apply(theme, 1);
    const style::Palette& c = style::colours();
    for (const Variant& variant : variants())
      CHECK(style::contrast(rule_colour(variant.id), c.panel) >= style::least_contrast);
    const ImU32 symbols[] = {c.query, c.key, c.value, c.gate, c.strength, c.error};
    for (const char* rule : compared) {
      INFO(rule << " " << name(theme));
      const Rgb8 own = style::bytes(rule_colour(rule));
      for (const ImU32 symbol : symbols) CHECK(distance(as_seen(own), as_seen(style::bytes(symbol))) > 14);
      for (const char* other : compared) {
        if (other == rule) break;
        const Rgb8 theirs = style::bytes(rule_colour(other));
        for (const Vision& vision : {trichromacy, deuteranopia, protanopia})
          CHECK(distance(as_seen(own, vision), as_seen(theirs, vision)) > 14);
      }
    }
    CHECK(rule_colour("linear_to_retnet") == rule_colour("retnet"));
  }
}

TEST_CASE("a plot notes its parts, with words that keep apart and off its curves", "[plot]") {
  DarkOffscreen offscreen(400, 300);
  const PlotDone done = drawn(offscreen, lines_plot());
  CHECK(done.area.minimum.x > 20);
  CHECK(done.area.maximum.x <= 380);
  const Rectangle low = place_of("lines/series/low");
  CHECK(std::abs(low.minimum.y -
                 (done.area.maximum.y - 0.25F * (done.area.maximum.y - done.area.minimum.y))) < 1);
  CHECK(parts().find("lines/axis/x")->words.starts_with("steps"));
  CHECK(parts().find("lines/axis/y")->words.starts_with("loss"));
  const std::vector<Rectangle> labels = places_below("lines/label");
  REQUIRE(labels.size() == 2);
  CHECK_FALSE(overlap(labels[0], labels[1]));
  CHECK(done.labels_on_curves == 0);
}

TEST_CASE("a gap in a series leaves its points their numbers; a plot without room says so", "[plot]") {
  DarkOffscreen offscreen(400, 300);
  Plot plot = lines_plot();
  plot.series.front().y[3] = std::numeric_limits<double>::quiet_NaN();
  drawn(offscreen, plot);
  CHECK(parts().find("lines/point/low/2"));
  CHECK_FALSE(parts().find("lines/point/low/3"));
  CHECK(parts().find("lines/point/low/10"));
  pass_in_window(offscreen, {400, 300}, [&] {
    const int before = ImGui::GetWindowDrawList()->VtxBuffer.Size;
    draw_plot(plot, {{20, 20}, {380, 30}});
    CHECK(ImGui::GetWindowDrawList()->VtxBuffer.Size > before);
    ImGui::Dummy({1, 1});
  });
}

TEST_CASE("the pointer is told the point under it; the wheel zooms and a double click goes back", "[plot]") {
  DarkOffscreen offscreen(400, 300);
  Plot plot = lines_plot();
  plot.explores = true;
  drawn(offscreen, plot);
  const ImVec2 third = places_below("lines/point/low")[3].middle();
  ImGui::GetIO().AddMousePosEvent(third.x, third.y);
  for (int i = 0; i < 3; ++i) drawn(offscreen, plot);
  CHECK(drawn(offscreen, plot).told == "point 3");
  const auto apart = [] {
    return place_of("lines/point/low/4").minimum.x - place_of("lines/point/low/3").minimum.x;
  };
  const float before = apart();
  ImGui::GetIO().AddMouseWheelEvent(0, 1);
  for (int i = 0; i < 3; ++i) drawn(offscreen, plot);
  CHECK(apart() > 1.05F * before);
  for (const bool down : {true, false, true, false}) {
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down);
    drawn(offscreen, plot);
  }
  drawn(offscreen, plot);
  CHECK(std::abs(apart() - before) < 0.01F);
}

namespace {

constexpr Rectangle room = {{0, 0}, {400, 200}};
constexpr ImVec2 extent = {60, 12};

Rectangle placed(ImVec2 at) { return box_at(at, extent); }

}  // namespace

TEST_CASE("words stand where they are wished, unless something is there", "[label]") {
  Offscreen offscreen(640, 400);
  offscreen.pass([&] {
    const ImVec2 wish = {100, 50};
    const ImVec2 free = free_place(room, {}, wish, extent).at;
    CHECK(free == wish);
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
    CHECK(free_place(room, {}, {390, 300}, extent).at == room.maximum - extent);
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

TEST_CASE("an axis has round numbers between its ends, about as many as are asked for", "[chart]") {
  CHECK(round_numbers(0, 1, 4) == std::vector<double>{0, 0.5, 1});
  CHECK(round_numbers(-3, 12, 7) == std::vector<double>{0, 5, 10});
  CHECK(round_numbers(0, 1, 0).empty());
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(-1, 1);
  std::uniform_int_distribution<int> exponent(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    const double from = part(bits) * std::pow(10, exponent(bits));
    const double to = from + std::abs(part(bits)) * std::pow(10, exponent(bits));
    CAPTURE(from, to);
    const std::vector<double> numbers = round_numbers(from, to, 7);
    REQUIRE(numbers.size() <= 8);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double slack = 1e-8 * (to - from);  // an end that is round but for its last digits counts
      REQUIRE(numbers[k] >= from - slack);
      REQUIRE(numbers[k] <= to + slack);
      if (k > 0) REQUIRE(numbers[k] > numbers[k - 1]);
    }
    if (!is_flat(from, to)) REQUIRE(numbers.size() >= 2);
  }
}

TEST_CASE("a range that is made of rounding is flat and has no numbers", "[chart]") {
  for (const double from : {1.0, -1.0, 3e-5, 7e200, 1e-310, 0.0}) {
    double to = from;
    for (int ulps = 0; ulps < 8; ++ulps) {
      CAPTURE(from, ulps);
      CHECK(is_flat(from, to));
      CHECK(round_numbers(from, to, 7).empty());
      to = std::nextafter(to, infinity);
    }
    CHECK_FALSE(is_flat(from, from + std::max(1e-250, 1e-9 * std::abs(from))));
  }
  for (const auto& [from, to] : {std::pair(1.0, 0.0), {0.0, infinity}, {-infinity, 0.0}, {quiet_nan, 1.0}}) {
    CHECK(is_flat(from, to));
    CHECK(round_numbers(from, to, 7).empty());
  }
}

TEST_CASE("a line that turns back is as wide there as elsewhere", "[chart]") {
  DarkOffscreen offscreen(400, 300);
  pass_in_window(offscreen, {400, 300}, [&] {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto vertices = [&](std::vector<ImVec2> points) {
      const int before = list->VtxBuffer.Size;
      solid_curve(list, points, IM_COL32_WHITE, 4);
      return list->VtxBuffer.Size - before;
    };
    const int one = vertices({{20, 20}, {60, 20}});
    CHECK(vertices({{20, 20}}) == 0);
    CHECK(vertices({{20, 20}, {60, 20}, {60, 60}}) < 2 * one);  // a joint
    CHECK(vertices({{20, 200}, {22, 20}, {24, 200}}) == 2 * one);
    ImGui::Dummy({1, 1});
  });
}

TEST_CASE("of a dashed line that leads far away the dashes are made that are seen", "[chart]") {
  DarkOffscreen offscreen(300, 200);
  const auto points_of = [&](ImVec2 from, ImVec2 to) {
    int points = 0;
    pass_in_window(offscreen, {300, 200}, [&] {
      ImDrawList* list = ImGui::GetWindowDrawList();
      const int before = list->VtxBuffer.Size;
      dashed_line(list, from, to, style::colours().text, 1);
      points = list->VtxBuffer.Size - before;
    });
    return points;
  };
  const int across = points_of({20, 100}, {280, 100});
  CHECK(across > 0);
  const int most = 2 * points_of({0, 0}, {300, 200});
  for (const ImVec2 far : {ImVec2{1e6F, 1e6F}, {-1e6F, 1e6F}, {280, -1e6F}, {1e6F, 100}}) {
    CAPTURE(far.x, far.y);
    for (const int points : {points_of({150, 100}, far), points_of(far, {150, 100})}) {
      CHECK(points > 0);
      CHECK(points <= most);
    }
  }
  CHECK(points_of({-1e6F, 100}, {1e6F, 100}) >= across);
  CHECK(points_of({-1e6F, 100}, {1e6F, 100}) <= most);
  CHECK(points_of({400, 0}, {400, 1e6F}) == 0);
  CHECK(points_of({150, 100}, {150, 100}) == 0);
}
