// A plot as a value: its ticks, its parts, and what the pointer does in it.

#include "app/scene/plot.h"

#include <imgui.h>

#include <cmath>
#include <string>
#include <vector>

#include "app/scene/parts.h"
#include "app/widgets/style.h"
#include "app/window/offscreen.h"
#include "tests/catch.h"
#include "tests/offscreen/plots.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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
  offscreen.pass([&] {
    parts().clear();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 300});
    ImGui::Begin("test", nullptr, ImGuiWindowFlags_NoDecoration);
    done = draw_plot(plot, {{20, 20}, {380, 280}});
    ImGui::Dummy({1, 1});
    ImGui::End();
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
  const PlotAxis octaves{.scale = PlotAxis::Scale::octaves};
  CHECK(words_of(plot_ticks(octaves, 1, 8, 400, 20)) == std::vector<std::string>{"1", "2", "4", "8"});
  PlotAxis named{.named = {{.at = 0.3, .words = "edge"}, {.at = 3, .words = "beyond"}}};
  CHECK(words_of(plot_ticks(named, 0, 1, 100, 40)) == std::vector<std::string>{"0.0", "0.5", "1.0", "edge"});
  named.gap = 0.4;
  CHECK(words_of(plot_ticks(named, 0, 1, 100, 40)) == std::vector<std::string>{"0.5", "1.0", "edge"});
}

TEST_CASE("a plot notes its parts, with words that keep apart and off its curves", "[plot]") {
  Offscreen offscreen(400, 300);
  style::apply(style::Theme::dark, 1);
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

TEST_CASE("the pointer is told the point under it; the wheel zooms and a double click goes back", "[plot]") {
  Offscreen offscreen(400, 300);
  style::apply(style::Theme::dark, 1);
  Plot plot = lines_plot();
  plot.explores = true;
  drawn(offscreen, plot);
  const ImVec2 third = middle_of(places_below("lines/point/low")[3]);
  ImGui::GetIO().AddMousePosEvent(third.x, third.y);
  for (int i = 0; i < 3; ++i) drawn(offscreen, plot);
  CHECK(drawn(offscreen, plot).told == "point 3");
  const float before = place_of("lines/point/low/4").minimum.x - place_of("lines/point/low/3").minimum.x;
  ImGui::GetIO().AddMouseWheelEvent(0, 1);
  for (int i = 0; i < 3; ++i) drawn(offscreen, plot);
  CHECK(place_of("lines/point/low/4").minimum.x - place_of("lines/point/low/3").minimum.x > 1.05F * before);
  for (const bool down : {true, false, true, false}) {
    ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, down);
    drawn(offscreen, plot);
  }
  drawn(offscreen, plot);
  const float after = place_of("lines/point/low/4").minimum.x - place_of("lines/point/low/3").minimum.x;
  CHECK(std::abs(after - before) < 0.01F);
}
