#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "app/scene/window.h"
#include "app/views/line_looks.h"
#include "app/views/measure.h"

// The roofline of the leading report: what its machine can do, and what each curve makes of it at its end.

namespace palimpsest {

namespace {

constexpr std::size_t most_told = 2;  // shares in the sentence

/// A curve's longest point under its roof.
struct UnderRoof {
  const RaceLine* line;
  const RacePoint* point;
  double intensity = 0;  // FLOPs per byte that must be moved
  double rate = 0;       // FLOPs per second
  double share = 0;      // of what the machine can do
};

/// Whether there is a place for it in a chart: what a machine does is neither nothing nor without end.
bool is_drawn(double number) { return number > 1e-60 && number < 1e60; }

std::vector<UnderRoof> points_under(const MeasuredNow& now) {
  std::vector<UnderRoof> all;
  for (const RaceLine& line : now.lines()) {
    if (line.points.empty()) continue;
    const RacePoint& point = line.points.back();
    const double intensity = point.work.needed_flops / point.work.bytes;
    const double rate = point.work.needed_flops / point.compute.median;
    if (!is_drawn(intensity) || !is_drawn(rate)) continue;
    all.push_back({&line, &point, intensity, rate, roof_fraction(point, *now.lead().report)});
  }
  return all;
}

/// The roofs that the points stand under, one of each device and precision.
std::vector<const RaceRoof*> roofs_of(const MeasuredNow& now) {
  std::vector<const RaceRoof*> all;
  for (const RaceRoof& roof : now.lead().report->roofs) {
    const bool is_used = std::ranges::any_of(now.lines(), [&](const RaceLine& line) {
      return line.of.device == roof.device && line.of.precision == roof.precision;
    });
    const double ridge = roof.roof.flops_per_second / roof.roof.bytes_per_second;
    if (is_used && is_drawn(roof.roof.flops_per_second) && is_drawn(ridge)) all.push_back(&roof);
  }
  return all;
}

/// The sides of the chart, at powers of ten.
struct RoofRange {
  double left = 1;
  double right = 100;
  double bottom = 1e9;
  double top = 1e11;
};

RoofRange range_of(const std::vector<UnderRoof>& points, const std::vector<const RaceRoof*>& roofs) {
  RoofRange range = {.left = 1e300, .right = 0, .bottom = 1e300, .top = 0};
  for (const UnderRoof& each : points) {
    range.left = std::min(range.left, each.intensity / 2);
    range.right = std::max(range.right, each.intensity * 2);
    range.bottom = std::min(range.bottom, each.rate / 2);
    range.top = std::max(range.top, each.rate);
  }
  for (const RaceRoof* const roof : roofs) {
    const double ridge = roof->roof.flops_per_second / roof->roof.bytes_per_second;
    range.left = std::min(range.left, ridge / 8);  // so that the slope is seen
    range.right = std::max(range.right, ridge * 4);
    range.bottom = std::min(range.bottom, roof->roof.flops_per_second / 12);
    range.top = std::max(range.top, roof->roof.flops_per_second);
  }
  if (range.top == 0) return {};
  range.top *= 2;
  return range;
}

/// A rate in a unit: "62.9", "1234".
std::string rate_words(double rate, const RateUnit& unit) {
  const double number = rate / unit.flops_per_second;
  return number < 999.5 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

/// "62 %", "4.1 %".
std::string share_words(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.1f} %", 100 * share);
}

/// A roof: the slope of what memory brings, then flat.
void add_roof(Plot& plot, const RaceRoof& roof, const std::string& whose, const RateUnit& unit) {
  const Roof& most = roof.roof;
  const double ridge = most.flops_per_second / most.bytes_per_second;
  const PlotLook look = {
      .colour = style::colours().dim, .width = 1.5F, .dash = roof.device == "cpu" ? 0.0F : 5.0F};
  const double foot = std::max(plot.x.low, plot.y.low / most.bytes_per_second);
  PlotMark slope = line_mark(foot, foot * most.bytes_per_second, ridge, most.flops_per_second, look);
  const double bytes = most.bytes_per_second;
  slope.name = "slope " + whose;
  slope.label = {.words = {bytes < 9.995e11 ? fmt::format("{:.3g} GB/s", bytes / 1e9)
                                            : fmt::format("{:.3g} TB/s", bytes / 1e12)},
                 .is_needed = false};
  slope.wish = {0.5F, 0.45F};
  PlotMark flat = line_mark(ridge, most.flops_per_second, plot.x.high, most.flops_per_second, look);
  flat.name = "roof " + whose;
  flat.label = {.words = {fmt::format("{}{} {}", whose.empty() ? "" : whose + " ",
                                      rate_words(most.flops_per_second, unit), unit.name)},
                .is_needed = false};
  flat.wish = {1, 0};
  plot.marks.push_back(std::move(flat));
  plot.marks.push_back(std::move(slope));
}

Plot roof_plot(const MeasuredNow& now, const std::vector<UnderRoof>& points) {
  const std::vector<const RaceRoof*> roofs = roofs_of(now);
  const RoofRange range = range_of(points, roofs);
  const RateUnit unit = rate_unit(range.top);
  Plot plot{.name = "roof",
            .x = {.title = {"FLOPs per byte that must be moved"},
                  .scale = PlotAxis::Scale::log10,
                  .low = range.left,
                  .high = range.right,
                  .words = [](double at) { return fmt::format("{:g}", at); }},
            .y = {.title = {unit.name},
                  .scale = PlotAxis::Scale::log10,
                  .low = range.bottom,
                  .high = range.top,
                  .words = [unit](double rate) { return rate_words(rate, unit); }},
            .explores = true};
  for (const RaceRoof* const roof : roofs)
    add_roof(plot, *roof, roofs.size() > 1 ? fmt::format("{} {}", roof->device, name(roof->precision)) : "",
             unit);
  for (const UnderRoof& each : points) {
    PlotLook look = curve_look(each.line->of, now.selection.variants, true);
    look.marker = look.dash > 0 ? PlotMarker::ring : PlotMarker::circle;
    look.size = 4;
    PlotMark mark = point_mark(each.line->name, each.intensity, each.rate, look);
    mark.label = {.words = {without_chunk(each.line->name) + " " + rate_words(each.rate, unit)},
                  .is_needed = false};
    mark.wish = {9, -7};
    mark.tip = point_words(*each.point, now.lead());
    plot.marks.push_back(std::move(mark));
  }
  return plot;
}

/// "softmax reaches 60 %, the recurrent form 45 % of the roof."
std::string shares_sentence(std::vector<UnderRoof> points) {
  std::erase_if(points, [](const UnderRoof& each) { return !is_drawn(each.share); });
  if (points.empty()) return {};
  std::ranges::stable_sort(points, std::ranges::greater(), &UnderRoof::share);
  std::string words;
  for (std::size_t i = 0; i < std::min(points.size(), most_told); ++i) {
    const RaceLine& line = *points[i].line;
    const std::string name = without_chunk(line.name);
    words +=
        fmt::format("{}{} {} {}", i > 0 ? ", " : "", name, i > 0 ? "" : "uses", share_words(points[i].share));
  }
  words = with_capital(std::move(words));
  for (std::size_t at = words.find("  "); at != std::string::npos; at = words.find("  ")) words.erase(at, 1);
  return words + " of the roof.";
}

scene::Node roof(Application& application) {
  const MeasuredNow& now = measured(application);
  scene::Node title = scene::heading("How much of the machine is used");
  if (!now.has_leading())
    return scene::column({std::move(title), scene::caption("Nothing is measured yet.")});
  const std::vector<UnderRoof> points = points_under(now);
  std::string sentence = shares_sentence(points);
  if (sentence.empty()) {
    const bool comes = application.races.runs() && now.lead().from == SeenReport::From::own_race;
    sentence =
        comes ? "What the machine can do is measured next …" : "What the machine can do was not measured.";
  }
  return scene::column({std::move(title),
                        scene::line("each at its longest n", style::Text::caption, scene::dim_ink),
                        scene::plotted(roof_plot(now, points)).filling(),
                        scene::text(sentence, style::Text::caption).named("used")});
}

}  // namespace

void draw_measure_roof(Application& application) {
  scene::show_panel("##measure roof", false, [&] { return roof(application); });
}

}  // namespace palimpsest
