#pragma once

#include "app/stage/cell_words.h"
#include "app/stage/ranges.h"
#include "app/stage/view.h"
#include "app/widgets/formula.h"
#include "app/widgets/heat_map.h"

namespace palimpsest {

/// What the drawing of a frame needs in addition to the layout, and its results.
struct StageScene {
  const StageView& view;
  const Record& record;
  const Symbols& symbols;
  ColourRanges& ranges;
  std::uint64_t version = 0;  // changes whenever the record does
  double fade = 1;            // from 0 just after a step to 1: the result's picture grows
  bool numbers = true;        // values as text where cells have room

  std::optional<PointedSymbol> pointed = {};  // in a formula: pictures of its tensor are framed
  std::optional<CellFocus> focus = {};        // framed, as are
  std::vector<Cells> sources = {};            // the cells that it was made from

  std::optional<CellFocus> hovered = {};    // out: the cell under the mouse
  bool clicked = false;                     // out: and it was clicked
  std::optional<std::string> enlarge = {};  // out: the tensor to enlarge, or to shrink again
  std::optional<double> scrubbed = {};      // out: `fade` while the mouse drags it
  std::optional<Index> wanted = {};         // out: the operation whose tile or link was clicked
};

/// Draws a picture or a number. Unless it is a thumbnail, its cells have tooltips, and a mark in its corner,
/// the part "mark/TENSOR", enlarges it. Notes a picture that is framed for its symbol as "pointed".
void draw_picture(const Box& picture, const Rectangle& where, bool is_thumbnail, StageScene& scene);

/// Hatching for values that are not computed yet, unlike the blank cells of zeros.
void draw_waiting(const Rectangle& where);

}  // namespace palimpsest
