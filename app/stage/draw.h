#pragma once

#include "app/stage/cell_words.h"
#include "app/stage/ranges.h"
#include "app/stage/view.h"
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

/// Draws a picture or a number. The pointer reads it, unless it is a small one that is but to be recognised;
/// a mark in its corner, the part "mark/TENSOR", enlarges it. Notes what is framed for its symbol as
/// "pointed".
void draw_picture(const Box& picture, const Rectangle& where, bool is_thumbnail, StageScene& scene);

/// Lines over steps; what is written around them is placed by itself.
void draw_chart(const HeroChart& chart, const Rectangle& where, const StageScene& scene);

/// Two layers of units beside each other, their middles level, and what they send each other.
struct LinkedLayers {
  struct Layer {
    const Box* picture = nullptr;
    float height = 0;
  };
  const std::vector<StrongLink>& links;
  Layer from = {};
  Layer to = {};
};

/// Draws it in the room between them; `fade` of it.
void draw_links(const LinkedLayers& layers, const Rectangle& where, const StageScene& scene);

/// The outline of a step's tile, which is the last item; and at its foot how far its result has grown:
/// dragging goes there.
void draw_tile(const StageTile& tile, const Rectangle& where, const StageScene& scene);
void draw_scrubber(const Rectangle& tile, StageScene& scene);

/// What is not there yet: unlike the blank paper of zeros.
void draw_waiting(const Rectangle& where);

}  // namespace palimpsest
