// Lines over the steps inside an operation.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/stage/draw.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr double least_power = -12;  // of ten, on a logarithmic axis

/// From numbers to heights.
struct ChartAxis {
  bool is_logarithmic = false;
  double low = 0;
  double high = 1;
  float top = 0;
  float bottom = 0;

  float operator()(double value) const {
    const double at = is_logarithmic ? std::log10(std::max(value, std::pow(10.0, least_power))) : value;
    const double part = std::clamp((at - low) / (high - low), 0.0, 1.0);
    return bottom + static_cast<float>(part) * (top - bottom);
  }
};

ChartAxis axis_of(const HeroChart& chart, const Matrix<double>& values, const PlacedChart& placed) {
  double least = 0;
  double most = 0;
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (!std::isfinite(value)) continue;
    const double at = chart.is_logarithmic ? std::log10(std::max(value, std::pow(10.0, least_power))) : value;
    least = std::min(least, at);
    most = std::max(most, at);
  }
  if (!chart.is_logarithmic) most = std::max(most, chart.high);
  if (most <= least) most = least + 1;
  return {chart.is_logarithmic, chart.is_logarithmic ? std::floor(least) : least, most, placed.position.y,
          placed.position.y + placed.size.y};
}

void draw_level(const PlacedChart& placed, const ChartAxis& axis, double value, const std::string& words) {
  const style::Palette& c = style::colours();
  const float y = std::round(axis(value));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({placed.position.x, y}, {placed.position.x + placed.size.x, y}, c.edge, px(style::line));
  const float height = text_extent(words).y;
  const float lifted = y - height - px(1) < placed.position.y ? y + px(1) : y - height - px(1);
  draw_text({placed.position.x + px(3), lifted}, c.dim, words);
}

}  // namespace

void draw_chart(const PlacedChart& placed, StageScene& scene) {
  const HeroChart& chart = *placed.chart;
  const Matrix<double>& values = scene.record.at(chart.tensor);
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::number_small);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 end = {placed.position.x + placed.size.x, placed.position.y + placed.size.y};
  scene.pieces.push_back({placed.position, end});
  if (scene.view.finished_rows(chart.tensor) == 0) return draw_waiting(placed.position, end);
  list->AddRect({placed.position.x - 1, placed.position.y - 1}, {end.x + 1, end.y + 1}, c.edge);
  const ChartAxis axis = axis_of(chart, values, placed);
  if (chart.high > chart.low) {
    list->AddRectFilled({placed.position.x, axis(chart.high)}, {end.x, axis(chart.low)},
                        style::with_alpha(c.good, 0.18F));
  }
  if (chart.is_logarithmic) {
    for (double power = 0; power >= axis.low; power -= 4)
      draw_level(placed, axis, std::pow(10.0, power), fmt::format("1e{:.0f}", power));
  } else {
    draw_level(placed, axis, 1, "1");
  }
  const auto columns = static_cast<float>(values.cols());
  std::vector<ImVec2> points;
  for (Index row = 0; row < values.rows(); ++row) {
    points.clear();
    for (Index column = 0; column < values.cols(); ++column) {
      const float x =
          placed.position.x + placed.size.x * static_cast<float>(column) / std::max(columns - 1, 1.0F);
      const double value = values(row, column);
      if (std::isfinite(value)) points.push_back({x, axis(value)});
    }
    const float part =
        values.rows() > 1 ? static_cast<float>(row) / static_cast<float>(values.rows() - 1) : 0;
    list->AddPolyline(points.data(), static_cast<int>(points.size()), style::mix(c.error, c.gate, part),
                      px(1.5F));
  }
}

}  // namespace palimpsest
