#include "app/scene/plot_view.h"

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

constexpr double furthest = 1e6;  // pixels: a point that is infinitely far away

/// Which part of the way from `low` to `high` a number is.
double part_of(double value, double low, double high, PlotAxis::Scale scale) {
  if (scale == PlotAxis::Scale::linear) return (value - low) / (high - low);
  return value > 0 ? std::log(value / low) / std::log(high / low) : -plot_side;
}

float pixel(double part, float at_0, float at_1) {
  const double at = static_cast<double>(at_0) + part * static_cast<double>(at_1 - at_0);
  return static_cast<float>(std::clamp(at, -furthest, furthest));
}

}  // namespace

float PlotView::x(double value) const {
  return pixel(part_of(value, left, right, x_scale), area.minimum.x, area.maximum.x);
}

float PlotView::y(double value) const {
  return pixel(part_of(value, bottom, top, y_scale), area.maximum.y, area.minimum.y);
}

ImVec2 PlotView::inside(double x_value, double y_value) const {
  return {std::clamp(x(x_value), area.minimum.x, area.maximum.x),
          std::clamp(y(y_value), area.minimum.y, area.maximum.y)};
}

double PlotView::value_at_x(float x) const {
  const auto part = static_cast<double>((x - area.minimum.x) / (area.maximum.x - area.minimum.x));
  return x_scale == PlotAxis::Scale::linear ? left + (right - left) * part
                                            : left * std::pow(right / left, part);
}

}  // namespace palimpsest
