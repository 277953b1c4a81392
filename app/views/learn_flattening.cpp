// The singular values of a gathered step on their way through Newton–Schulz.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gl/context_local.h"
#include "app/scene/plot.h"
#include "app/views/learn.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr double alike_from = 0.68;  // where the usual coefficients bring all that is not tiny
constexpr double alike_to = 1.2;
constexpr double lowest = 1e-5;  // of the axis
constexpr double highest = 6;
constexpr float words_below = 20;
constexpr Index most_lines = 64;

struct ShownIterate {
  std::optional<std::size_t> index = {};
};

Index count_alike(const Matrix<double>& values, Index step) {
  return (values.col(step).array() >= alike_from && values.col(step).array() <= alike_to).count();
}

/// The ticks of the steps: the symbol of each, and how many directions are alike by then.
std::vector<PlotTick> step_ticks(const Matrix<double>& values, std::size_t shown, bool compact) {
  std::vector<PlotTick> ticks;
  for (Index i = 0; i < values.cols(); ++i) {
    const Index alike = count_alike(values, i);
    ticks.push_back(
        {.at = static_cast<double>(i),
         .latex = fmt::format("X_{}", i),
         .below = compact ? std::to_string(alike) : fmt::format("{} of {}", alike, values.rows()),
         .colour = i == static_cast<Index>(shown) ? style::colours().strength : style::colours().text});
  }
  return ticks;
}

/// The strongest and the weakest direction, and between them as many as can be told apart.
void add_directions(Plot& plot, const Matrix<double>& values, bool is_old) {
  const style::Palette& c = style::colours();
  const auto add = [&](Index direction, const PlotLook& look, const std::string& words) {
    PlotSeries course{.name = words, .look = look};
    if (!words.empty()) course.label.words = {words};
    if (!is_old) course.look.marker = PlotMarker::circle;
    course.look.size = look.width + 0.8F;
    for (Index i = 0; i < values.cols(); ++i) {
      course.x.push_back(static_cast<double>(i));
      course.y.push_back(std::max(values(direction, i), plot.y.low));
    }
    plot.series.push_back(std::move(course));
  };
  const Index stride = std::max<Index>(values.rows() / most_lines, 1);
  for (Index direction = 0; direction < values.rows(); direction += stride)
    add(direction, {.colour = style::with_alpha(c.dim, 0.55F), .width = 1}, "");
  add(0, {.colour = c.text}, "the strongest direction");
  add(values.rows() - 1, {.colour = c.text}, fmt::format("the weakest of {} directions", values.rows()));
}

/// A line at the step that is looked at, which can be dragged.
void add_knob(Plot& plot, std::size_t shown) {
  const PlotLook look = {.colour = style::colours().strength, .marker = PlotMarker::circle, .size = 5};
  const auto at = static_cast<double>(shown);
  plot.marks.push_back(upright_mark("shown", at, look));
  plot.marks.push_back(point_mark("knob", at, plot.y.low, look));
  plot.drags = true;
}

}  // namespace

std::size_t shown_iterate(std::size_t iterates) {
  const auto& shown = context_local<ShownIterate>().index;
  return shown && *shown < iterates ? *shown : iterates - 1;
}

void show_iterate(std::size_t index) { context_local<ShownIterate>().index = index; }

Index count_used(const Matrix<double>& singular_values) {
  constexpr double rounding = 1e-12;  // of the largest
  if (singular_values.size() == 0) return 0;
  return (singular_values.col(0).array() > rounding * singular_values(0, 0)).count();
}

Plot flattening_plot(const Matrix<double>& values, std::size_t shown, bool is_old, bool compact) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "flattening",
            .x = {.low = -0.15,
                  .high = static_cast<double>(values.cols()) - 0.85,
                  .named = step_ticks(values, shown, compact),
                  .has_round = false,
                  .row_name = "alike"},
            .y = {.title = {"singular values"},
                  .scale = PlotAxis::Scale::log10,
                  .low = std::clamp(values.minCoeff() / 2, lowest, 0.1),
                  .high = highest}};
  plot.marks.push_back({.kind = PlotMark::Kind::area,
                        .name = "alike",
                        .y = alike_from,
                        .to_y = alike_to,
                        .look = {.colour = c.good},
                        .fill = 0.3F,
                        .label = {.words = {fmt::format("all alike: {:g} to {:g}", alike_from, alike_to)}},
                        .wish = {1, 0}});
  add_directions(plot, values, is_old);
  add_knob(plot, shown);
  return plot;
}

void draw_flattening(const LearnScene& scene, const LearnRoom& room) {
  // [directions, steps], largest first
  const Matrix<double> values =
      scene.moment.step.singular_values.topRows(count_used(scene.moment.step.singular_values));
  if (values.size() == 0) return;
  const std::size_t shown = shown_iterate(static_cast<std::size_t>(values.cols()));
  const PlotDone done = draw_plot(flattening_plot(values, shown, scene.is_old, room.compact),
                                  {room.from, {room.to.x, room.to.y - px(words_below)}});
  learn_map().iterates = done.area;
  if (done.dragged)
    show_iterate(static_cast<std::size_t>(
        std::lround(std::clamp(*done.dragged, 0.0, static_cast<double>(values.cols() - 1)))));
  const double growth = values(values.rows() - 1, 1) / values(values.rows() - 1, 0);
  const std::vector<std::string> parts = {
      fmt::format("the rule always takes {} steps: drag to see fewer", values.cols() - 1),
      fmt::format("the smallest grow {:.3g} times in the first", growth)};
  const style::TextStyle text(style::Text::caption);
  const std::string caption = joined_to_fit(parts, room.width());
  learn_text({room.from.x + (room.width() - text_extent(caption).x) / 2, room.to.y - px(18)},
             style::colours().dim, caption);
}

}  // namespace palimpsest
