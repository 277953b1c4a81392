#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// How a matrix is drawn.
struct HeatMapLook {
  float range = 1;           // the magnitude with the strongest colour
  bool transposed = false;   // rows of the matrix become columns of the picture
  Index only_row = -1;       // the only row of the matrix to show; -1: all
  Index finished_rows = -1;  // the rows computed so far; the rest is blank. -1: all
  bool dim = false;          // something else is highlighted
  bool masked = false;       // -inf marks masked cells, which are hatched
  bool grid = true;          // a thin line between cells that are at least 6 design pixels large
};

/// A rectangle on the screen, in screen pixels.
struct Rectangle {
  ImVec2 minimum;
  ImVec2 maximum;

  bool operator==(const Rectangle&) const = default;
  float width() const { return maximum.x - minimum.x; }
  float height() const { return maximum.y - minimum.y; }
  ImVec2 size() const { return maximum - minimum; }
  ImVec2 middle() const { return (minimum + maximum) / 2; }
  bool contains(ImVec2 at) const {
    return at.x >= minimum.x && at.x < maximum.x && at.y >= minimum.y && at.y < maximum.y;
  }
  /// Whether all of another lies in it.
  bool holds(const Rectangle& other) const {
    return other.minimum.x >= minimum.x && other.minimum.y >= minimum.y && other.maximum.x <= maximum.x &&
           other.maximum.y <= maximum.y;
  }
  /// The point in it that is nearest to another.
  ImVec2 nearest(ImVec2 at) const {
    return {std::clamp(at.x, minimum.x, maximum.x), std::clamp(at.y, minimum.y, maximum.y)};
  }
  Rectangle grown(ImVec2 by) const { return {minimum - by, maximum + by}; }
  Rectangle grown(float by) const { return grown(ImVec2(by, by)); }
};

/// The smaller and the larger of two in both directions; rounding to whole pixels.
inline ImVec2 lower_of(ImVec2 a, ImVec2 b) { return {std::min(a.x, b.x), std::min(a.y, b.y)}; }
inline ImVec2 upper_of(ImVec2 a, ImVec2 b) { return {std::max(a.x, b.x), std::max(a.y, b.y)}; }
inline ImVec2 rounded(ImVec2 at) { return {std::round(at.x), std::round(at.y)}; }

/// The rectangle with its upper left corner at `at`.
inline Rectangle box_at(ImVec2 at, ImVec2 extent) { return {at, at + extent}; }

/// Whether two rectangles overlap by more than `slack` screen pixels in both directions.
inline bool overlap(const Rectangle& a, const Rectangle& b, float slack = 0) {
  return a.minimum.x + slack < b.maximum.x && b.minimum.x + slack < a.maximum.x &&
         a.minimum.y + slack < b.maximum.y && b.minimum.y + slack < a.maximum.y;
}

/// Draws `values` into a rectangle (screen pixels, rounded to whole ones; cells are stretched to fill it) in
/// the current window. `key` names the texture that keeps the numbers; they are uploaded again only when
/// `version`, rows or size change. If several cells share a pixel, it shows NaN if there is one, else the one
/// of largest magnitude, so that thin structures do not vanish.
void heat_map(std::string_view key, const Matrix<double>& values, std::uint64_t version,
              const Rectangle& where, const HeatMapLook& look);

/// The cells that a heat map shows, as drawn: `values` or a row of it, transposed if requested, 0 where it is
/// not finished. If there are more rows than `height` or columns than `width` pixels, each pixel shows its
/// strongest cell: the first NaN if there is one, else the first of largest magnitude.
Matrix<float> drawn_cells(const Matrix<double>& values, const HeatMapLook& look, Index width, Index height);

/// A cell in the picture: rows and columns as drawn, after choosing the row and transposing.
struct Cell {
  Index row = 0;
  Index column = 0;

  friend bool operator==(const Cell&, const Cell&) = default;
};

/// The drawn cell under the pointer, of `rows` by `columns` drawn ones. If several share a pixel, the middle
/// one.
std::optional<Cell> hovered_cell(const Rectangle& where, Index rows, Index columns, ImVec2 mouse);

/// The cell of a heat map under the pointer, as drawn.
std::optional<Cell> pointed_cell(const Matrix<double>& values, const HeatMapLook& look,
                                 const Rectangle& where);

/// The rectangle of a drawn cell on the screen (for frames), in whole pixels.
Rectangle cell_rectangle(const Rectangle& where, Index rows, Index columns, Cell cell);

}  // namespace palimpsest
