#pragma once

#include <string>

#include "app/scene/plot.h"
#include "app/widgets/style.h"

// What the drawing of plots shares: where numbers lie, and what stands around them.

namespace palimpsest {

/// From the side of a plot to what its series are called, in design pixels.
inline constexpr float to_plot_label = 26;

/// Where the numbers of a plot lie on the screen.
struct PlotView {
  Rectangle area = {};
  PlotAxis::Scale x_scale = PlotAxis::Scale::linear;
  PlotAxis::Scale y_scale = PlotAxis::Scale::linear;
  double left = 0;  // the numbers at its sides
  double right = 1;
  double bottom = 0;
  double top = 1;

  float x(double value) const;  // beyond the sides too; what is infinite lies far away
  float y(double value) const;
  ImVec2 at(double x_value, double y_value) const { return {x(x_value), y(y_value)}; }
  /// The same, at a side where the numbers are beyond it.
  ImVec2 inside(double x_value, double y_value) const;
  double value_at_x(float x) const;

  float width() const { return area.maximum.x - area.minimum.x; }
  float height() const { return area.maximum.y - area.minimum.y; }
};

/// Where the numbers of `plot` lie in a room: what stands around them takes what it needs.
PlotView lay_out_plot(const Plot& plot, const Rectangle& room);

/// What lies under the numbers: over words the panel itself.
ImU32 plot_ground(const Plot& plot);

/// Numbers, titles, grid, legend and strip, around what is seen of a plot.
void draw_plot_frame(const Plot& plot, const Rectangle& room, const PlotView& seen);

/// Where a stretch of the strip lies.
Rectangle span_place(const PlotSpan& span, const PlotView& seen);

/// The extent of words in a style, and the height of its lines.
ImVec2 extent_in(style::Text text, const std::string& words);
float line_height(style::Text text);

}  // namespace palimpsest
