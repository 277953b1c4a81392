#pragma once

#include <cstddef>

#include "app/scene/plot.h"

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
};

/// Where the numbers of `plot` lie in a room: what stands around them takes what it needs.
PlotView lay_out_plot(const Plot& plot, const Rectangle& room);

/// What lies under the numbers: over words the panel itself.
ImU32 plot_ground(const Plot& plot);

/// Numbers, titles, grid, legend and strip, around what is seen of a plot.
void draw_plot_frame(const Plot& plot, const Rectangle& room, const PlotView& seen);

/// Where a stretch of the strip lies.
Rectangle span_place(const PlotSpan& span, const PlotView& seen);

// Where the words of a plot stand: one placer, so that none lies over another or over a curve.

/// What words in a plot keep clear of: other words and points, and curves.
struct Taken {
  std::vector<Rectangle> boxes = {};
  std::vector<std::vector<ImVec2>> lines = {};

  bool cover(const Rectangle& place) const;                            // a box lies there,
  bool cross(const Rectangle& place, bool uprights_too = true) const;  // or a line
};

/// Whether a line through points reaches into a rectangle.
bool crosses(const std::vector<ImVec2>& line, const Rectangle& box);

/// Where words are put, and whether they lie over nothing that is taken.
struct LabelPlace {
  ImVec2 at = {};  // the upper left corner
  bool is_free = false;
  float away = 0;  // pixels from the wish; one to a side counts less than one up or down, as words are wide
};

/// A place in `room` for words of this extent, as near to `wish` as can be. Over curves where near the wish
/// all else is taken, and at the wish where even that is.
LabelPlace free_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent);

/// A place in `room` for words beside the curve lines[index], where no other curve is nearer: as far to the
/// right as can be, above it or below. Nothing where there is none.
std::optional<ImVec2> place_beside_line(const Rectangle& room, const Taken& taken,
                                        const std::vector<std::vector<ImVec2>>& lines, std::size_t index,
                                        ImVec2 extent);

/// A place in `room` for words beside an upright line at `x`, as near to the height of `wish` as can be below
/// it; over other upright ones where nothing else is free. Nothing where all is taken.
std::optional<ImVec2> place_beside_upright(const Rectangle& room, const Taken& taken, ImVec2 wish, float x,
                                           ImVec2 extent);

/// A label beside something: where its upper edge would best be, and its height, in pixels.
struct WantedLabel {
  float top = 0;
  float height = 0;
};

/// The upper edges of labels that lie one below the other between `top` and `bottom` without overlapping, in
/// the order of their wishes, each as near to its wish as all together allow (least squares). Where there is
/// no room for all of them, the last ones of `wanted` get none: the result is shorter.
std::vector<float> spread(const std::vector<WantedLabel>& wanted, float top, float bottom);

}  // namespace palimpsest
