#pragma once

#include <cstddef>

#include "app/scene/plot.h"

// Shared by the drawing of plots: coordinates, axes and the places of labels.

namespace palimpsest {

/// From the side of a plot to the labels of its series, in design pixels.
inline constexpr float to_plot_label = 26;

/// The numbers at the sides of a plot.
struct PlotRange {
  double left = 0;
  double right = 1;
  double bottom = 0;
  double top = 1;

  bool operator==(const PlotRange&) const = default;
};

/// The mapping from the coordinates of a plot to screen pixels.
struct PlotView : PlotRange {
  Rectangle area = {};
  PlotAxis::Scale x_scale = PlotAxis::Scale::linear;
  PlotAxis::Scale y_scale = PlotAxis::Scale::linear;

  float x(double value) const;  // also beyond the sides; infinite values are far away
  float y(double value) const;
  ImVec2 at(double x_value, double y_value) const { return {x(x_value), y(y_value)}; }
  /// The same, clamped to the area.
  ImVec2 inside(double x_value, double y_value) const;
  double value_at_x(float x) const;
};

/// The view of `plot` in a room (screen pixels), after axes and labels have taken what they need.
PlotView lay_out_plot(const Plot& plot, const Rectangle& room);

/// The background colour of the area: over tokens that of the panel.
ImU32 plot_ground(const Plot& plot);

/// Draws the numbers, titles, grid, legend and strip of a plot.
void draw_plot_frame(const Plot& plot, const Rectangle& room, const PlotView& seen);

/// Draws a plot for a guess, by `draw`: its axes and a ring to drag; or, once they have looked,
/// all of it and the guess as a dashed line.
PlotDone draw_guessed(const Plot& plot, PlotGuess& guess, const std::function<PlotDone(const Plot&)>& draw);

/// Where a stretch of the strip lies.
Rectangle span_place(const PlotSpan& span, const PlotView& seen);

// The placement of labels, so that none covers another or a curve.

/// What labels keep clear of: other labels, points, and curves.
struct Taken {
  std::vector<Rectangle> boxes = {};
  std::vector<std::vector<ImVec2>> lines = {};

  bool cover(const Rectangle& place) const;                            // whether a box overlaps
  bool cross(const Rectangle& place, bool uprights_too = true) const;  // whether a line crosses
};

bool crosses(const std::vector<ImVec2>& line, const Rectangle& box);

/// The place of a label, and whether it covers nothing.
struct LabelPlace {
  ImVec2 at = {};  // the upper left corner
  bool is_free = false;
  float away = 0;  // distance from the wish in pixels; horizontal ones count less, as labels are wide
};

/// A place in `room` for a label of this extent, as near to `wish` as possible. If everything near is taken,
/// it may cover curves; if even that is impossible, it is at the wish.
LabelPlace free_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent);

/// A place in `room` for a label above or below the curve lines[index], as far to the right as possible,
/// where no other curve is nearer. Nothing if there is none.
std::optional<ImVec2> place_beside_line(const Rectangle& room, const Taken& taken,
                                        const std::vector<std::vector<ImVec2>>& lines, std::size_t index,
                                        ImVec2 extent);

/// A place in `room` for a label beside a vertical line at `x`, below the height of `wish` and as near to it
/// as possible. It may cover other vertical lines. Nothing if everything is taken.
std::optional<ImVec2> place_beside_upright(const Rectangle& room, const Taken& taken, ImVec2 wish, float x,
                                           ImVec2 extent);

/// A label beside something: its preferred upper edge and its height, in pixels.
struct WantedLabel {
  float top = 0;
  float height = 0;
};

/// The upper edges of labels one below the other between `top` and `bottom` without overlap, in the order of
/// their wishes and as near to them as possible (least squares). If not all fit, the last ones of `wanted`
/// are left out: the result is shorter.
std::vector<float> spread(const std::vector<WantedLabel>& wanted, float top, float bottom);

}  // namespace palimpsest
