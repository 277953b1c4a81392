#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/stage/equation_layout.h"
#include "app/stage/view.h"

namespace palimpsest {

/// How words of the Stage are coloured.
enum class Ink { text, dim, faint };

/// Words at their place on the screen.
struct PlacedWords {
  ImVec2 position;
  std::string words;
  style::Text text = style::Text::caption;
  Ink ink = Ink::dim;
  float wrap = 0;  // the width at which they are wrapped; 0: one line
  ImVec2 extent;
};

/// An equation at its place.
struct PlacedEquation {
  EquationLayout equation;
  ImVec2 position;
};

/// "3 lines above": how many are not in sight. A click goes to the first step of `line`, the nearest of them.
struct PlacedLink {
  ImVec2 position;
  ImVec2 extent;
  std::string words;
  std::string where;  // "above", "to come": also its identity
  std::size_t line = 0;
};

/// Where everything on the Stage lies, in screen pixels.
struct StageLayout {
  std::vector<PlacedEquation> equations = {};
  std::vector<PlacedWords> words = {};
  std::vector<PlacedLink> links = {};
  bool has_rule = false;  // a line from edge to edge
  ImVec2 rule = {};       // its left end
};

/// Lays `view` out in a room on the screen. A function of its arguments; `view` and `ruler` must outlive the
/// result.
StageLayout lay_out(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);

// One file each: a token's pictures, and lines of a chunk or of the whole sequence.
StageLayout lay_out_token(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);
StageLayout lay_out_lines(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);

/// The lines around the one at the cursor that are in sight: [first, last].
struct LinesInSight {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The widest window around line `present` whose other lines need no more than `room` together. What follows
/// comes before what is done.
LinesInSight window_around(std::size_t present, const std::vector<float>& needed, float room);

/// Adds "`count` lines `where`" at `position`, or ending there; nothing if there are none.
void place_link(StageLayout& layout, const Ruler& ruler, ImVec2 position, std::size_t count,
                const std::string& where, std::size_t line, bool ends_there = false);

inline constexpr float link_height = 20;  // of the words that tell how many lines are not in sight

}  // namespace palimpsest
