#pragma once

#include <functional>
#include <limits>
#include <memory>

#include "app/widgets/heat_map.h"

// A plot as a value: what is drawn over which axes, in numbers and words. Only draw_plot() knows where that
// lies on the screen.

namespace palimpsest {

enum class PlotMarker { none, circle, ring, square, up, down, diamond, lozenge, cross, dash, handle };

/// How a line and its points are drawn; sizes in design pixels.
struct PlotLook {
  ImU32 colour = 0;
  float width = 2;  // 0: no line
  float dash = 0;   // how long its dashes are; 0: drawn through
  PlotMarker marker = PlotMarker::none;
  float size = 3;       // of the marker, from its middle on
  bool hollow = false;  // the marker
};

/// Words of a series or a mark: one placer keeps all of a plot apart and off its curves.
struct PlotLabel {
  std::vector<std::string> words = {};  // the first for which there is room near; empty: no label
  std::string symbol = {};              // LaTeX before them
  std::string value = {};               // below them, in digits,
  std::vector<std::string> notes = {};  // and after it, in small letters, the first that has room
  ImU32 colour = 0;                     // 0: of what it names
  bool is_strong = false;
  bool is_needed = true;  // stands over curves where nothing is free; else it is left out there
};

/// A line through points.
struct PlotSeries {
  std::string name = {};  // of its part; empty: it cannot be spoken of
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::vector<double> low = {};  // of the band around it, for each point; empty: there is none
  std::vector<double> high = {};
  PlotLook look = {};
  PlotLabel label = {};
  float band = 0.18F;                                // how strong that is
  std::function<std::string(std::size_t)> tip = {};  // what the pointer is told about a point
};

/// Beyond every number of an axis: an area or a line that ends there goes to the side of the plot.
inline constexpr double plot_side = std::numeric_limits<double>::infinity();

struct PlotMark {
  enum class Kind {
    area,     // from (x, y) to (to_x, to_y)
    line,     // between the two
    picture,  // numbers in such an area, as a heat map
    point,    // at (x, y), with the look's marker
    flag      // from x down to the foot, with its words at the top
  };

  Kind kind = Kind::point;
  std::string name = {};  // of its part
  double x = -plot_side;
  double y = -plot_side;
  double to_x = plot_side;
  double to_y = plot_side;
  PlotLook look = {};
  float fill = 0;     // how strong an area's colour is,
  float hatch = 0;    // and the lines over it,
  float outline = 0;  // and the line around it, as around a picture
  PlotLabel label = {};
  ImVec2 wish = {};  // where the label is best: of a point in design pixels from it, of an area and of a line
                     // in parts of it, 0, 0 its upper left
  ImVec2 shift = {};     // of a point, in design pixels: so that several at one place are seen
  std::string tip = {};  // what the pointer is told
  std::shared_ptr<const Matrix<double>> numbers = nullptr;  // of a picture, which is kept by its name
  std::uint64_t version = 0;
  HeatMapLook heat = {};
  std::function<std::string(Cell)> told = nullptr;  // of a cell under the pointer
};

/// A line upright at x, level at y, or between two points.
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

/// A place in the numbers of a plot, or a way between two.
struct PlotPlace {
  double x = 0;
  double y = 0;
};

/// Numbers as a heat map, its first cell at `from` and its last at `to`, in a thin frame; 0: in none.
PlotMark picture_mark(std::string name, PlotPlace from, PlotPlace to,
                      std::shared_ptr<const Matrix<double>> numbers, std::uint64_t version, double range,
                      ImU32 frame = 0);

/// A number beside an axis, by name.
struct PlotTick {
  double at = 0;
  std::string words = {};
  std::string latex = {};  // instead of words
  std::string below = {};  // in a second row, of the axis x
  ImU32 colour = 0;        // 0: as all
};

struct PlotAxis {
  enum class Scale { linear, log10, octaves };

  std::vector<std::string> title = {};  // parts: a line each below the axis x where they have no room on one
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  std::vector<PlotTick> named = {};  // numbers round ones give way to
  bool has_round = true;             // round numbers are written, by `words` if that is given
  std::function<std::string(double)> words = {};
  std::string row_name = {};       // of what stands below the ticks
  std::optional<double> gap = {};  // where the axis is broken: below it the numbers are no scale
  bool has_grid = true;
  float room = 0;       // of the numbers beside it, in design pixels; 0: as much as they need
  bool rising = false;  // words in place of numbers: below the axis x read from below. Of both axes or none
  int lanes = 1;        // of those words, beside each other
};

/// What a kind of line or point means, above the plot.
struct PlotKey {
  enum class Sample { line, band, point };
  std::string words = {};
  PlotLook look = {};
  Sample sample = Sample::line;
};

/// A stretch of the strip below the axis x.
struct PlotSpan {
  double from = 0;
  double to = 0;
  ImU32 colour = 0;
  std::string tip = {};
};

struct Plot {
  enum class Labels { inside, beside };  // where series have theirs

  std::string name = {};  // of its part
  PlotAxis x = {};
  PlotAxis y = {};
  std::vector<PlotSeries> series = {};
  std::vector<PlotMark> marks = {};
  std::vector<PlotKey> legend = {};
  std::string strip_name = {};  // of the strip; empty: there is none
  std::vector<PlotSpan> strip = {};
  Labels labels = Labels::inside;
  bool explores = false;  // the wheel zooms, a drag moves, a double click goes back to all; of one that
                          // drags only the wheel
  bool drags = false;     // a press anywhere in it, or a drag, gives a number of the axis x
  bool presses = false;   // where it is pressed, how far it is dragged and the wheel are told
  std::function<std::string(PlotPlace)> told = {};  // of a place under the pointer
  float beside = 0;      // how wide that is in design pixels, right of a room that is the area
  bool is_area = false;  // the room is that of the numbers alone, and what stands around them lies outside
};

/// Where the words lie that a plot stands over: in pixels from its left side.
struct WordPlaces {
  Index begin = 0;  // those that are seen
  Index end = 0;
  double width = 0;  // of the plot
  std::function<double(Index)> left = {};

  double middle(Index token) const { return (left(token) + left(token + 1)) / 2; }
};

/// What a person did in a frame, and where the plot lies.
struct PlotDone {
  Rectangle area = {};  // of the numbers, on the screen; empty: there was no room
  bool active = false;  // it is dragged
  bool hovered = false;
  std::optional<double> dragged = {};  // to where on the axis x
  std::string told = {};               // what the pointer is told
  // Of one that presses.
  std::optional<PlotPlace> at = {};  // the pointer, over it or while it is dragged
  PlotPlace moved = {};              // since the last frame, while it is dragged
  bool begins = false;               // to be dragged
  bool ends = false;
  bool clicked = false;  // let go where it was pressed
  float wheel = 0;
  int labels_on_curves = 0;  // as nothing else near was free
};

/// A point of a plot by itself, beside words that say what it means.
void draw_plot_marker(ImVec2 at, const PlotLook& look);

/// Draws `plot` in a room of the screen and notes its parts, below its name: "axis/x", "series/NAME",
/// "mark/NAME", and the words of both as "label/NAME".
PlotDone draw_plot(const Plot& plot, const Rectangle& room);

/// Round ones and those with names, from `low` to `high` on an axis that is `length` pixels long, where a
/// number takes `room` pixels of it. Ticks without words are minor ones.
std::vector<PlotTick> plot_ticks(const PlotAxis& axis, double low, double high, float length, float room);

}  // namespace palimpsest
