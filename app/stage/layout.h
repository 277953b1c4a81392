#pragma once

#include <imgui.h>

#include <limits>
#include <string>
#include <vector>

#include "app/stage/equation_layout.h"
#include "app/stage/view.h"

namespace palimpsest {

inline constexpr float unbounded = std::numeric_limits<float>::infinity();

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
  Role role = Role::plain;     // of another one the words take the colour
  bool is_on_picture = false;  // over cells that leave room for it
  std::string enlarges = {};   // the tensor whose picture they name; empty: none
  bool rises = false;          // read from below
  Index goes_to = -1;          // the operation that a click leads to; -1: none
};

/// A formula at its place: the left upper corner.
struct PlacedFormula {
  ImVec2 position;
  std::string latex;
  float letters = 0;  // how high they are
  FormulaSize extent;
  Ink ink = Ink::text;
  std::string enlarges = {};  // as of words
};

/// A picture, or a number, that belongs to no equation.
struct PlacedPicture {
  const Box* picture = nullptr;
  ImVec2 position;
  ImVec2 size;
  bool is_thumbnail = false;  // without numbers, and the pointer does not read its cells
};

/// What the units of one picture send to those of another, which both stand.
struct PlacedLinks {
  const HeroLinks* links = nullptr;
  PlacedPicture from;
  PlacedPicture to;
};

/// Lines over steps; what is written around it is placed by itself.
struct PlacedChart {
  const HeroChart* chart = nullptr;
  ImVec2 position;
  ImVec2 size;
};

/// A frame around cells of several pictures.
struct PlacedFrame {
  ImVec2 minimum;
  ImVec2 maximum;
};

/// The outline of a tile; what is in it is placed by itself.
struct PlacedTile {
  std::size_t tile = 0;
  ImVec2 position;
  ImVec2 extent;
};

/// An equation at its place.
struct PlacedEquation {
  EquationLayout equation;
  ImVec2 position;
};

/// "3 lines above": how many are not in sight. A click goes to the nearest of them.
struct PlacedLink {
  ImVec2 position;
  ImVec2 extent;
  std::string words;
  std::string where;    // "above", "to come": also its identity
  Index operation = 0;  // where the click goes
  std::string title;    // of it
};

/// Where everything on the Stage lies, in screen pixels.
struct StageLayout {
  std::vector<PlacedEquation> equations = {};
  std::vector<PlacedWords> words = {};
  std::vector<PlacedLink> links = {};
  std::vector<PlacedTile> tiles = {};
  std::vector<PlacedPicture> pictures = {};
  std::vector<PlacedFormula> formulas = {};
  std::vector<PlacedFrame> frames = {};
  std::vector<PlacedChart> charts = {};
  std::vector<PlacedLinks> links_between = {};
  bool has_rule = false;  // a line from edge to edge
  ImVec2 rule = {};       // its left end
};

/// Lays `view` out in a room on the screen. A function of its arguments; `view` and `ruler` must outlive the
/// result.
StageLayout lay_out(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);

// One file each: the step of one token, and lines of a chunk or of the whole sequence.
StageLayout lay_out_token(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);
StageLayout lay_out_lines(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler);

// Of one token: the present step.
void lay_out_hero(StageLayout& layout, const Hero& hero, ImVec2 origin, ImVec2 room, const Ruler& ruler);

// A solve row by row, and the height that it would like to have.
void lay_out_substitution(StageLayout& layout, const SubstitutionView& view, ImVec2 origin, ImVec2 room,
                          const Ruler& ruler);
float natural_height(const SubstitutionView& view, const Ruler& ruler);

/// The lines around the one at the cursor that are in sight: [first, last].
struct LinesInSight {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The widest window around line `present` whose other lines need no more than `room` together. What follows
/// comes before what is done.
LinesInSight window_around(std::size_t present, const std::vector<float>& needed, float room);

/// How words and formulas are put at a point, and which of their own points lies there: 0, 0 is their upper
/// left corner, 1, 1 the lower right one.
struct WordsLook {
  style::Text text = style::Text::caption;
  Ink ink = Ink::dim;
  ImVec2 own = {0, 0};
  float room = unbounded;   // in which they are cut; none stand where there is hardly any
  float lines = unbounded;  // how far the next line is, where that is near
  Role role = Role::plain;
  std::string enlarges = {};
};

struct FormulaLook {
  float size = 15;  // of the letters, in design pixels
  Ink ink = Ink::dim;
  ImVec2 own = {0, 0};
  float room = unbounded;  // smaller letters where it is wider
  std::string enlarges = {};
};

/// Puts words, formulas and pictures on a Stage.
class Placing {
 public:
  Placing(StageLayout& layout, const Ruler& ruler) : layout_(layout), ruler_(ruler) {}

  void words(const std::string& words, ImVec2 at, const WordsLook& look = {});
  void formula(const std::string& latex, ImVec2 at, const FormulaLook& look = {});

  /// `words` at a point, or ending there; `where` is their identity. A click goes to `operation`.
  void link(std::string words, ImVec2 at, bool ends_there, const std::string& where, Index operation,
            std::string title);

 protected:
  float px(float design_pixels) const { return ruler_.px(design_pixels); }
  ImVec2 extent(const std::string& words, style::Text text = style::Text::caption) const {
    return ruler_.words(words, text, -1);
  }
  /// How wide a formula is whose letters are so many design pixels high.
  float formula_width(const std::string& latex, float size) const {
    return ruler_.formula(latex, px(size)).width;
  }

  StageLayout& layout_;
  const Ruler& ruler_;
};

inline constexpr float link_height = 20;  // of the words that tell how many lines are not in sight

}  // namespace palimpsest
