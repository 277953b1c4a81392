#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "app/stage/cell_words.h"
#include "app/stage/layout.h"
#include "app/stage/ranges.h"
#include "app/widgets/formula.h"
#include "app/widgets/heat_map.h"

namespace palimpsest {

/// What the drawing of a frame needs beside the layout, and what it finds.
struct StageScene {
  const StageView& view;
  const Record& record;
  const Symbols& symbols;
  ColourRanges& ranges;
  std::uint64_t version = 0;  // changes whenever the record does
  double fade = 1;            // 0 just after a step, then 1: the lit picture grows
  bool numbers = true;        // values as text where cells have room

  std::optional<PointedSymbol> pointed = {};  // in a formula: pictures of its tensor are framed
  std::optional<CellFocus> focus = {};        // framed, with
  std::vector<Cells> sources = {};            // what it was made from

  std::optional<CellFocus> hovered = {};  // out: the cell under the mouse
  bool clicked = false;                   // out: and it was clicked
  std::optional<std::string> enlarge =
      {};                               // out: the tensor whose picture is to have all the room, or no more
  std::optional<double> scrubbed = {};  // out: as `fade`, held by the mouse
  std::optional<Index> wanted = {};     // out: the operation that a tile or a link was clicked for
};

/// Makes what was drawn at `place` the name of the picture of `tensor`: a click there enlarges it. Notes the
/// part "name/TENSOR".
void offer_enlarging(const std::string& tensor, const Rectangle& place, StageScene& scene);

/// The same for a mark in the corner of a picture that the pointer is on; returns whether it is on the mark.
/// Notes the part "mark/TENSOR".
bool draw_enlarging_mark(const std::string& tensor, ImVec2 position, ImVec2 size, StageScene& scene);

/// Draws all that is laid out in the current window. Notes every picture, caption, sign and word as a part
/// "piece", those that lead to a line as "line/OPERATION", and what is framed for its symbol as "pointed".
void draw(const StageLayout& layout, StageScene& scene);

/// An equation: fades what waits, frames what is lit, and notes what is hovered.
void draw(const PlacedEquation& placed, StageScene& scene);

/// The cells of a picture; the pointer reads them, unless it is a small one that is but to be recognised.
void draw_cells(const Box& picture, ImVec2 position, ImVec2 size, StageScene& scene,
                bool is_thumbnail = false);

/// The words beside the rows of a picture at `position`, in `width` to its left: `all`, or the present one's.
void draw_row_words(const Box& picture, ImVec2 position, float height, float width, bool all);

/// Notes that the mouse points at `cell`.
void point_at(const CellFocus& cell, StageScene& scene);

/// A number in letters of so many design pixels, in its place; the pointer reads it, unless it is but to be
/// recognised. It waits like cells.
void draw_number(const Box& number, const Rectangle& place, float letters, bool is_read, StageScene& scene);

/// What is not there yet: unlike the blank paper of zeros.
void draw_waiting(ImVec2 minimum, ImVec2 maximum);

}  // namespace palimpsest
