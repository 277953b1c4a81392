#pragma once

#include "app/scene/node.h"
#include "app/stage/equation_layout.h"
#include "app/stage/view.h"

namespace palimpsest {

struct StageScene;

/// The scene of the current frame for the drawings of a layout, which is cached over frames.
struct StageFrame {
  StageScene* scene = nullptr;
};

/// How words and formulas are placed at a point: `own` is their own point that is placed there; 0, 0 is their
/// upper left corner, 1, 1 the lower right one.
struct PieceLook {
  style::Text text = style::Text::caption;  // of words
  float size = 15;                          // of the letters of a formula, in design pixels
  scene::Ink ink = scene::dim_ink;
  ImVec2 own = {0, 0};
  float room = unbounded;     // width beyond which words are cut (or omitted) and formulas get smaller
  bool is_row = false;        // beside a row, which may be no higher than row_of_words
  std::string enlarges = {};  // the tensor whose picture they name; empty: none
};

inline constexpr ImVec2 upper_middle = {0.5F, 0};
inline constexpr ImVec2 in_the_middle = {0.5F, 0.5F};
inline constexpr ImVec2 from_the_left = {0, 0.5F};
inline constexpr ImVec2 to_the_right = {1, 0.5F};

/// Puts nodes at places of the Stage, in screen pixels from its upper left corner.
class Placing {
 public:
  /// All must outlive what is placed.
  Placing(const StageView& view, const Ruler& ruler, StageFrame& frame)
      : view_(view), ruler_(ruler), frame_(frame) {}

  const StageView& view() const { return view_; }
  const Ruler& ruler() const { return ruler_; }
  float px(float design_pixels) const { return ruler_.px(design_pixels); }
  ImVec2 extent(const std::string& words, style::Text text = style::Text::caption) const {
    return ruler_.words(words, text);
  }
  /// How wide a formula is whose letters are so many design pixels high.
  float formula_width(const std::string& latex, float size) const {
    return ruler_.formula(latex, px(size)).width;
  }

  void put(scene::Node node, ImVec2 at, ImVec2 own = {0, 0}, ImVec2 room = {unbounded, unbounded});
  void words(const std::string& words, ImVec2 at, const PieceLook& look = {});
  void formula(const std::string& latex, ImVec2 at, const PieceLook& look = {});

  /// A picture, or a number. A thumbnail has no numbers, and its cells have no tooltips.
  void picture(const Box& picture, ImVec2 at, ImVec2 size, bool is_thumbnail = false);

  /// The words beside its rows, which end at `right`, no wider than `room`: of all rows, or of the present
  /// one.
  void row_words(const Box& picture, ImVec2 right, float height, float room, bool all);

  /// The pictures of an equation, which outlives what is placed.
  void equation(const EquationLayout& equation, ImVec2 corner);

  /// `words` at a point, or ending there; `where` is their identity. A click goes to `operation`.
  void link(const std::string& words, ImVec2 at, bool ends_there, const std::string& where, Index operation,
            const std::string& title);

  /// A custom drawing: a piece with its words, or something over or under the pieces.
  using Draw = std::function<void(const Rectangle& where, StageScene& scene)>;
  void piece(const std::string& words, ImVec2 at, ImVec2 size, Draw draw);
  scene::Node drawn(ImVec2 size, Draw draw) const;

  /// What a click on it that leads to an operation does.
  std::function<void()> going_to(Index operation) const;

  /// All that was put.
  scene::Node all() && { return {std::move(spots_)}; }

 private:
  void operand(const Box& box, const BoxExtent& extent, ImVec2 corner, const PictureSizes& sizes);
  void caption(const Box& box, const FormulaSize& letters, ImVec2 corner, float width,
               const PictureSizes& sizes);
  void lit_frame(ImVec2 corner, ImVec2 size);
  scene::Node named(scene::Node node, const std::string& enlarges) const;

  const StageView& view_;
  const Ruler& ruler_;
  StageFrame& frame_;
  scene::Spots spots_;
};

/// Lays `view` out in a room of this size (screen pixels), as nodes with places relative to its upper left
/// corner. A pure function of its arguments, which must outlive the result.
scene::Node lay_out(const StageView& view, ImVec2 room, const Ruler& ruler, StageFrame& frame);

// One file each: the step of one token, and lines of a chunk or of the whole sequence.
void lay_out_token(Placing& placing, ImVec2 room);
void lay_out_lines(Placing& placing, ImVec2 room);

// Of one token, or enlarged: what is shown large.
void lay_out_hero(Placing& placing, const Hero& hero, ImVec2 origin, ImVec2 room);

// A solve row by row, and its preferred height.
void lay_out_substitution(Placing& placing, const SubstitutionView& view, ImVec2 origin, ImVec2 room);
float natural_height(const SubstitutionView& view, const Ruler& ruler);

/// The lines around the one at the cursor that are in sight: [first, last].
struct LinesInSight {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The widest window around line `present` whose other lines need no more than `room` together. Later lines
/// have priority over earlier ones.
LinesInSight window_around(std::size_t present, const std::vector<float>& needed, float room);

}  // namespace palimpsest
