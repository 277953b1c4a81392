// Lines over the steps inside an operation.

#include <algorithm>
#include <cmath>

#include "app/scene/plot.h"
#include "app/stage/draw.h"

namespace palimpsest {

namespace {

constexpr double least_shown = 1e-12;  // on a logarithmic axis

/// The axis upwards, which all numbers and the band have room on.
PlotAxis values_axis(const HeroChart& chart, const Matrix<double>& values) {
  double least = chart.is_logarithmic ? 1 : 0;
  double most = chart.is_logarithmic ? 1 : chart.high;
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (!std::isfinite(value)) continue;
    least = std::min(least, chart.is_logarithmic ? std::max(value, least_shown) : value);
    most = std::max(most, value);
  }
  if (!chart.is_logarithmic) return {.low = least, .high = most > least ? most : least + 1};
  const double low = std::pow(10, std::floor(std::log10(least)));
  return {.scale = PlotAxis::Scale::log10, .low = low, .high = most > low ? most : 10 * low};
}

/// Its symbols at the steps that they are spread over, or the steps by number.
PlotAxis columns_axis(const HeroChart& chart, Index columns) {
  PlotAxis axis{.high = std::max(static_cast<double>(columns - 1), 1.0),
                .has_round = chart.columns.empty(),
                .has_grid = false};
  if (chart.columns.empty()) axis.title = {"steps"};
  const double distance = axis.high / std::max(static_cast<double>(chart.columns.size()) - 1, 1.0);
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    axis.named.push_back({.at = static_cast<double>(i) * distance, .latex = chart.columns[i]});
  return axis;
}

Plot hero_plot(const HeroChart& chart, const Matrix<double>& values) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "stage/" + chart.tensor,
            .x = columns_axis(chart, values.cols()),
            .y = values_axis(chart, values)};
  if (chart.high > chart.low)
    plot.marks.push_back({.kind = PlotMark::Kind::area,
                          .name = "alike",
                          .y = chart.low,
                          .to_y = chart.high,
                          .look = {.colour = c.good},
                          .fill = 0.18F});
  for (Index row = 0; row < values.rows(); ++row) {
    const float part =
        values.rows() > 1 ? static_cast<float>(row) / static_cast<float>(values.rows() - 1) : 0;
    PlotSeries line{.look = {.colour = style::mix(c.error, c.gate, part), .width = 1.5F}};
    for (Index column = 0; column < values.cols(); ++column) {
      line.x.push_back(static_cast<double>(column));
      line.y.push_back(chart.is_logarithmic ? std::max(values(row, column), plot.y.low)
                                            : values(row, column));
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

void draw_chart(const PlacedChart& placed, StageScene& scene) {
  const Rectangle room = {placed.position,
                          {placed.position.x + placed.size.x, placed.position.y + placed.size.y}};
  scene.pieces.push_back({room.minimum, room.maximum});
  if (scene.view.finished_rows(placed.chart->tensor) == 0) return draw_waiting(room.minimum, room.maximum);
  draw_plot(hero_plot(*placed.chart, scene.record.at(placed.chart->tensor)), room);
}

}  // namespace palimpsest
