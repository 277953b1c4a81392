#pragma once

#include <functional>
#include <limits>
#include <memory>

#include "app/widgets/heat_map.h"

// A plot as a value: data, axes and texts. Only draw_plot() knows places on the screen.

namespace palimpsest {

enum class PlotMarker { none, circle, ring, square, up, down, diamond, lozenge, cross, dash, handle };

/// How a line and its points are drawn; sizes in design pixels.
struct PlotLook {
  ImU32 colour = 0;
  float width = 2;  // 0: no line
  float dash = 0;   // length of the dashes; 0: solid
  PlotMarker marker = PlotMarker::none;
  float size = 3;       // radius of the marker
  bool hollow = false;  // the marker
};

/// The label of a series or a mark: free_place() keeps labels apart and off curves.
struct PlotLabel {
  std::vector<std::string> words = {};  // the first that fits is shown; empty: no label
  std::string symbol = {};              // LaTeX before the words
  std::string value = {};               // a number below the words
  std::vector<std::string> notes = {};  // after the number, in small letters, the first that fits
  ImU32 colour = 0;                     // 0: of what it names
  bool is_strong = false;
  bool is_needed = true;  // may cover curves if nothing is free; else it is left out
};

/// A line through points.
struct PlotSeries {
  std::string name = {};  // of its part; empty: no part is noted
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> low = {};  // of the band around it, for each point; empty: no band
  std::vector<double> high = {};
  PlotLook look = {};
  PlotLabel label = {};
  float band = 0.18F;                                // opacity of the band
  std::function<std::string(std::size_t)> tip = {};  // the tooltip of a point

  void add(double at_x, double at_y) {
    x.push_back(at_x);
    y.push_back(at_y);
  }
};

/// Beyond the range of every axis: an area or a line that ends here reaches the side of the plot.
inline constexpr double plot_side = std::numeric_limits<double>::infinity();

struct PlotMark {
  enum class Kind {
    area,     // from (x, y) to (to_x, to_y)
    line,     // between the two
    picture,  // a heat map in such an area
    point,    // at (x, y), with the look's marker
    flag      // a pole at x with its words at the top
  };

  Kind kind = Kind::point;
  std::string name = {};  // of its part
  double x = -plot_side;
  double y = -plot_side;
  double to_x = plot_side;
  double to_y = plot_side;
  PlotLook look = {};
  float fill = 0;     // opacity of an area's colour
  float hatch = 0;    // opacity of its hatching
  float outline = 0;  // opacity of its outline, or of a picture's
  PlotLabel label = {};
  ImVec2 wish = {};   // preferred place of the label: for a point in design pixels from it, for an area or a
                      // line as a fraction of it, with 0, 0 at its upper left
  ImVec2 shift = {};  // of a point, in design pixels, so that several points at one place are visible
  std::string tip = {};                                     // the tooltip
  std::shared_ptr<const Matrix<double>> numbers = nullptr;  // of a picture, which is cached by its name
  std::uint64_t version = 0;
  HeatMapLook heat = {};
  std::function<std::string(Cell)> told = nullptr;  // of a cell under the pointer

  PlotMark labelled(PlotLabel words, ImVec2 at = {}) && {
    label = std::move(words);
    wish = at;
    return std::move(*this);
  }
};

/// A vertical line at x, a horizontal line at y, or a line between two points.
inline PlotMark upright_mark(std::string name, double x, PlotLook look) {
  return {.kind = PlotMark::Kind::line, .name = std::move(name), .x = x, .to_x = x, .look = look};
}
inline PlotMark level_mark(std::string name, double y, PlotLook look) {
  return {.kind = PlotMark::Kind::line, .name = std::move(name), .y = y, .to_y = y, .look = look};
}
inline PlotMark line_mark(double x, double y, double to_x, double to_y, PlotLook look) {
  return {.kind = PlotMark::Kind::line, .x = x, .y = y, .to_x = to_x, .to_y = to_y, .look = look};
}
inline PlotMark point_mark(std::string name, double x, double y, PlotLook look) {
  return {.kind = PlotMark::Kind::point, .name = std::move(name), .x = x, .y = y, .look = look};
}

/// A place in the coordinates of a plot, or a difference of two.
struct PlotPlace {
  double x = 0;
  double y = 0;
};

/// A frame around cells; the ends are exclusive.
inline PlotMark frame_mark(std::string name, Index row, Index column, Index row_end, Index column_end,
                           ImU32 colour, float opacity) {
  return {.kind = PlotMark::Kind::area,
          .name = std::move(name),
          .x = static_cast<double>(column),
          .y = static_cast<double>(row),
          .to_x = static_cast<double>(column_end),
          .to_y = static_cast<double>(row_end),
          .look = {.colour = colour},
          .outline = opacity};
}

/// A heat map with its first cell at `from` and its last at `to`, in a thin frame; colour 0: without a frame.
inline PlotMark picture_mark(std::string name, PlotPlace from, PlotPlace to,
                             std::shared_ptr<const Matrix<double>> numbers, std::uint64_t version,
                             double range, ImU32 frame = 0) {
  return {.kind = PlotMark::Kind::picture,
          .name = std::move(name),
          .x = from.x,
          .y = from.y,
          .to_x = to.x,
          .to_y = to.y,
          .look = {.colour = frame},
          .outline = frame != 0 ? 1.0F : 0,
          .numbers = std::move(numbers),
          .version = version,
          .heat = {.range = static_cast<float>(range)}};
}

/// A tick of an axis.
struct PlotTick {
  double at = 0;
  std::string words = {};
  std::string latex = {};  // instead of words
  std::string below = {};  // in a second row, of the x axis
  ImU32 colour = 0;        // 0: as usual
};

struct PlotAxis {
  enum class Scale { linear, log10, octaves };

  std::vector<std::string> title = {};  // parts: below the x axis as many on a line as fit
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  std::vector<PlotTick> named = {};  // ticks that have priority over round numbers
  bool has_round = true;             // with round numbers, written by `words` if given
  std::function<std::string(double)> words = {};
  std::string row_name = {};       // of the second row below the ticks
  std::optional<double> gap = {};  // where the axis is broken: numbers below are not to scale
  bool has_grid = true;
  float room = 0;       // for the numbers beside it, in design pixels; 0: as they need
  bool rising = false;  // words in place of numbers, vertical below the x axis. For both axes or none
  int lanes = 1;        // rows of those words
};

/// An entry of the legend above the plot.
struct PlotKey {
  enum class Sample { line, band, point };
  std::string words = {};
  PlotLook look = {};
  Sample sample = Sample::line;
};

/// A stretch of the strip below the x axis.
struct PlotSpan {
  double from = 0;
  double to = 0;
  ImU32 colour = 0;
  std::string tip = {};
};

struct Plot {
  enum class Labels { inside, beside };  // the place of the labels of series

  std::string name = {};  // of its part
  PlotAxis x = {};
  PlotAxis y = {};
  std::vector<PlotSeries> series = {};
  std::vector<PlotMark> marks = {};
  std::vector<PlotKey> legend = {};
  std::string strip_name = {};  // of the strip; empty: there is none
  std::vector<PlotSpan> strip = {};
  Labels labels = Labels::inside;
  bool explores = false;  // the wheel zooms, a drag moves, a double click resets; if `drags`, the wheel only
  bool drags = false;     // a press or a drag in the plot gives a number of the x axis
  bool presses = false;   // where it is pressed, how far it is dragged and the wheel are told
  std::function<std::string(PlotPlace)> told = {};  // the tooltip of a place under the pointer
  float beside = 0;      // width for labels right of the area, in design pixels, if `is_area`
  bool is_area = false;  // the room is the area of the data; axes and labels are outside
};

/// The places of the tokens below a plot, in screen pixels from its left side.
struct WordPlaces {
  Index begin = 0;  // of the visible tokens
  Index end = 0;
  double width = 0;  // of the plot
  std::function<double(Index)> left = {};

  double middle(Index token) const { return (left(token) + left(token + 1)) / 2; }
};

/// What the user did in a frame, and the place of the plot.
struct PlotDone {
  Rectangle area = {};  // of the data, in screen pixels; empty: there was no room
  bool active = false;  // it is dragged
  bool hovered = false;
  std::optional<double> dragged = {};  // the dragged number of the x axis
  std::string told = {};               // the tooltip shown
  // For a plot with `presses`:
  std::optional<PlotPlace> at = {};  // the pointer, over the plot or while dragging
  PlotPlace moved = {};              // since the last frame, while dragging
  bool begins = false;               // a drag begins
  bool ends = false;
  bool clicked = false;  // released where it was pressed
  float wheel = 0;
  int labels_on_curves = 0;  // labels that had no free place
};

/// A number that the user guesses on a plot by dragging a ring, before its curves are shown.
struct PlotGuess {
  std::string plot = {};         // the path of its part; empty: none
  bool is_height = false;        // at x, else a number of the x axis
  std::optional<double> x = {};  // of a height; nothing: not known yet
  double least = 0;              // of the guess
  double most = 1;
  std::optional<double> value = {};  // the guess
  bool is_dragged = false;           // in this frame
  bool has_looked = false;           // at the curves
};

/// That of the current Dear ImGui context.
PlotGuess& plot_guess();

void draw_plot_marker(ImVec2 at, const PlotLook& look);

/// Draws `plot` in `room` (screen pixels) and notes its parts, below its name: "axis/x", "series/NAME",
/// "mark/NAME", and their labels as "label/NAME".
PlotDone draw_plot(const Plot& plot, const Rectangle& room);

/// The round and the named ticks from `low` to `high` on an axis that is `length` screen pixels long, if a
/// number takes `room` pixels. Ticks without words are minor ones.
std::vector<PlotTick> plot_ticks(const PlotAxis& axis, double low, double high, float length, float room);

}  // namespace palimpsest
