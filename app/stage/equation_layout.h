#pragma once

#include "app/stage/box.h"
#include "app/widgets/text.h"

namespace palimpsest {

inline constexpr float row_of_words = 12;  // least height of a row with a label
inline constexpr float word_gap = 8;       // between a row and its label
inline constexpr float widest_row_word = 68;
inline constexpr float caption_height = 20;  // below a picture
inline constexpr Index few = 8;              // most cells of a short side

/// Whether the rows of a picture of this height (screen pixels) are high enough for labels.
bool has_row_words(const Box& picture, float height, const Ruler& ruler);

/// The lengths of the sides of pictures, in design pixels.
struct SideLook {
  float growth = 0.45F;      // with the number of cells: long sides leave room to short ones
  float thin = 12;           // the side of a vector,
  float thick = 22;          // with more room,
  float thick_of_few = 48;   // and of a short one: its numbers fit
  float smallest = 30;       // of a matrix
  float usual_cell = 26;     // cells grow to this size,
  float largest_cell = 96;   // or, where they are few, to this one
  float largest_side = 416;  // as long as the side is no longer
  float gap = 10;            // between the parts of a row
};

/// The sizes of the pictures of an equation: `unit` is a length that grows with the room; `squeeze` shrinks
/// everything else if even the smallest pictures do not fit.
struct PictureSizes {
  float scale = 1;            // screen pixels of a design pixel
  float largest_number = 28;  // in design pixels
  float unit = 0;
  float squeeze = 1;
  bool are_few = false;  // no side has more than a few cells
  SideLook look = {};

  float fixed(float design_pixels) const { return std::round(design_pixels * scale); }
  float px(float design_pixels) const { return fixed(design_pixels * squeeze); }

  /// Between the parts of a row, the rows of a stack, and a picture and its symbol.
  float gap() const { return std::max(px(look.gap), fixed(8)); }
  float row_gap() const { return fixed(8); }
  float caption_gap() const { return fixed(8); }
  /// The size of the letters of signs, of the symbol under a picture, and of a number in design pixels: that
  /// grows with the pictures around it.
  float glyph() const { return px(22); }
  float label() const { return std::max(px(style::formula_label), fixed(12)); }
  float number() const { return std::clamp(1.7F * unit / scale, 18.0F, largest_number) * squeeze; }
  /// The height of a symbol with the gap above it.
  float caption() const { return caption_gap() + label() * caption_height / style::formula_label; }
};

/// The place that a box takes. Boxes of a row are centred on one axis; captions hang below the pictures.
struct BoxExtent {
  float side = 0;    // picture, number: its own width; the caption may be wider. Bracket: its height
  float height = 0;  // picture, number: its own height
  float width = 0;
  float above = 0;  // from the axis upwards
  float below = 0;  // from the axis downwards, captions included
  std::vector<BoxExtent> parts = {};

  // What was measured of the letters, and for which sizes.
  float letters_squeeze = -1;
  FormulaSize letters = {};    // a glyph, a symbol
  float widest_word = -1;      // beside the rows of a picture
  float present_word = -1;     // the label of the token at the cursor
  float words = 0;             // picture: width of the labels; 0: none
  bool has_row_words = false;  // all rows have labels; else only the current one
};

/// What is told of a box: its left end, and the height of its axis.
using VisitBox = std::function<void(const Box& box, const BoxExtent& extent, float x, float axis)>;

/// The layout of an equation's boxes, in screen pixels. Sides with the same number of cells have the same
/// length in all pictures of the equation.
class EquationLayout {
 public:
  /// Both must outlive it.
  EquationLayout(const Box& box, const Ruler& ruler, const SideLook& look = {});

  /// The extent with the smallest legible pictures, no wider than `width` if possible.
  ImVec2 least(float width);

  /// Chooses the largest pictures with which everything fits into `available` pixels and returns the extent.
  /// They grow with unit(), at most to `largest_unit`.
  ImVec2 fit(ImVec2 available, float largest_unit = unbounded);

  /// Visits everything that is drawn when the left upper corner lies at `position`; groups after what is in
  /// them.
  void visit(ImVec2 position, const VisitBox& visit) const;

  /// The largest number of rows of a picture with row labels; 0 if there is none.
  Index rows_with_words() const { return rows_with_words_; }

  /// The least unit at which all rows have labels.
  float unit_of_words() const;

  /// The height of a row with a label.
  float row_height() const;

  float unit() const { return sizes_.unit; }
  const PictureSizes& sizes() const { return sizes_; }

 private:
  ImVec2 measure(float unit, float squeeze);
  ImVec2 smallest(ImVec2 available, float least_squeeze);

  const Box* box_;
  const Ruler* ruler_;
  BoxExtent extent_;
  PictureSizes sizes_;
  Index rows_with_words_ = 0;
};

/// "result = operands" with its operands on two lines, broken where both lines are short and few brackets are
/// open; without parts if there is no such place.
Box broken(const Box& equation);

/// An equation on one line or on two, with wider or narrower pictures, so that its rows are as close as
/// possible to having labels.
class BreakingEquation {
 public:
  /// Both boxes and the ruler must outlive it. `broken`: without parts, it stays on one line.
  BreakingEquation(const Box& whole, const Box& broken, const Ruler& ruler);

  /// As in EquationLayout, for the best of all layouts.
  ImVec2 least(float width);
  ImVec2 fit(ImVec2 available, float largest_unit = unbounded);
  float unit() const { return chosen().unit(); }

  /// The height at which all rows have labels, or the largest height in this width.
  float height_with_words(float width);

  /// What the last fit() chose.
  const EquationLayout& chosen() const { return layouts_[chosen_]; }

 private:
  std::vector<EquationLayout> layouts_;  // the better ones first, where words have room
  std::size_t chosen_ = 0;
};

}  // namespace palimpsest
