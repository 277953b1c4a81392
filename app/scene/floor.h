#pragma once

#include "app/scene/parts.h"
#include "app/widgets/text.h"

// The floor of a workspace as a value: the tokens of a text, with rows of marks above and below. Only
// draw_floor() knows their places.

namespace palimpsest {

/// The width of the gutter left of the tokens, which holds the names of rows, in design pixels from the
/// panel's edge. The tokens begin here in every workspace with a floor.
inline constexpr float floor_gutter = 112;

/// The content of the columns: one token each.
struct FloorText {
  std::string_view id;                  // of the data; other data are shown from their first token
  std::span<const std::string> labels;  // as in the data
  Index tokens = 0;                     // number of tokens
  Index token = 0;                      // at the cursor
};

/// Which part of the text all floors show, kept from frame to frame.
struct FloorView {
  double first = 0;  // the token at the left edge, with its fraction
  float column = 0;  // the mean width of a token in screen pixels; 0: not yet chosen

  std::string data_id;  // the data that `column` was chosen for,
  float scale = 0;      // and the style's scale
  float natural = 0;    // the mean width at which labels fit, in screen pixels
  Index followed = -1;  // the token that was last scrolled into view,
  float width = 0;      // and the width of the room, in screen pixels
};

/// The places of the visible tokens' columns, in screen pixels. If labels are shown, each column is as wide
/// as its label; else all are equally wide.
struct FloorColumns {
  ImVec2 position;
  ImVec2 size;
  Index tokens = 0;
  double first = 0;
  float column = 0;
  std::vector<float> edges = {};  // of the visible columns, the last one's right edge too; empty: all alike

  bool has_words() const { return !edges.empty(); }

  float left(Index token) const;
  float left_pixel(Index token) const { return std::round(left(token)); }
  float width(Index token) const { return left(token + 1) - left(token); }
  float middle(Index token) const { return (left(token) + left(token + 1)) / 2; }
  Index begin() const { return std::clamp<Index>(static_cast<Index>(std::floor(first)), 0, tokens); }
  Index end() const;
  /// The token at `x`, with its fraction, limited to the known columns.
  double at(float x) const;
  Index token_at(float x) const {
    return std::clamp<Index>(static_cast<Index>(std::floor(at(x))), 0, std::max<Index>(tokens - 1, 0));
  }
  bool shows(Index token) const { return token >= begin() && token < end(); }
  /// Whether some of the text is outside.
  bool is_longer() const { return first > 0 || end() < tokens || left(tokens) > position.x + size.x + 1; }

  /// Calls `draw(first, end, left, right)` for every visible column of at least one pixel. Tokens that share
  /// a pixel are one column; none is left out.
  template <class Draw>
  void each(Draw draw) const {
    const Index stop = end();
    const float edge = left_pixel(stop);
    for (Index token = begin(); token < stop;) {
      const float from = left_pixel(token);
      Index last = token + 1;
      float to = left_pixel(last);
      // Tokens that would begin at the right end belong to the last column.
      while (last < stop && (to <= from || to >= edge)) to = left_pixel(++last);
      draw(token, last, from, std::max(to, from + 1));
      token = last;
    }
  }
};

/// The columns in the rectangle at `position` (screen pixels). First updates the view: new data are shown
/// with readable labels, the view follows the cursor and ends with the text.
FloorColumns floor_columns(FloorView& view, const FloorText& text, const Ruler& ruler, ImVec2 position,
                           ImVec2 size);

/// Makes columns wider (`factor` above 1) or narrower; the token at `x` keeps its place.
void zoom_floor(FloorView& view, const FloorColumns& columns, const FloorText& text, const Ruler& ruler,
                float factor, float x);

/// The scale of a row, from its lower side to its upper side.
struct FloorScale {
  double bottom = 0;
  double top = 1;
  bool logarithmic = false;  // needs positive ends

  /// The height of a number: 0 at the bottom, 1 at the top, also beyond them; 0 if it has no logarithm.
  float part(double value) const;
  double value(float part) const;
};

/// A shape in a token's column, between two fractions of the row's height: 0 is the bottom, 1 the top.
struct FloorPiece {
  enum class Kind {
    fill,
    inset,    // filled, one pixel from the sides if there is room
    outline,  // in columns too narrow for an outline: filled in a paler colour
    hatch,    // slanted lines: absent, or in excess
    edge,     // a line at `to`
    side,     // a line at the left side
    whisker,  // a line in the middle, where columns are wide enough
    cut,      // a notch near the upper side: a clipped bar. `from` counts notches downwards
  };

  Kind kind = Kind::fill;
  float from = 0;
  float to = 0;
  ImU32 colour = 0;
};

/// The shapes of a token, or of several that share a pixel; later ones are drawn over earlier ones.
class FloorMark {
 public:
  void add(FloorPiece piece) {
    if (count_ < pieces_.size()) pieces_[count_++] = piece;
  }
  void bar(float to, ImU32 colour) { add({.to = to, .colour = colour}); }

  const FloorPiece* begin() const { return pieces_.data(); }
  const FloorPiece* end() const { return pieces_.data() + count_; }

 private:
  std::array<FloorPiece, 6> pieces_ = {};
  std::size_t count_ = 0;
};

/// A line through a row at a part of its height, with its text in the gutter.
struct FloorLevel {
  float part = 0;
  std::string words = {};
  ImU32 ink = 0;     // of the text
  ImU32 colour = 0;  // of the line; 0: no line
  float width = 1;   // in design pixels, as all that follow
  bool dashed = false;
  float least_row = 0;  // in lower rows the words are left out
};

/// The label of a row, in the gutter.
struct FloorLabel {
  struct Line {
    std::string words;
    ImU32 colour = 0;
    style::Text text = style::Text::caption;
    struct Key {
      std::string words;
      bool filled = false;
    };
    std::vector<Key> keys = {};  // boxes with words: what outlines and bars are
  };

  std::vector<Line> lines = {};
  std::vector<std::string> brief =
      {};                   // in place of all lines if there is room for one only: the first that fits
  std::string symbol = {};  // LaTeX in place of the first line of a label at the left
  ImU32 symbol_colour = 0;
  bool left = false;     // at the panel's edge, from the top down; else beside the tokens, centred in the row
  bool top = false;      // beside the tokens, but from the top down
  float room_below = 0;  // reserved for something else
  std::string number = {};  // between the label and the tokens, in a column of its own
};

/// The width of a mark in its column.
enum class FloorWidth {
  whole,  // without a gap
  usual,
  narrow,  // with a wider gap, where there is room
  slim,    // no wider than 18 design pixels
};

/// A drag in a row: in this frame it passed the tokens from `last` to `token`.
struct FloorStroke {
  Index first = 0;  // where it began, and
  float first_part = 0;
  Index last = 0;
  Index token = 0;
  float part = 0;  // the pointer's height in the row, 0 to 1
  bool begins = false;
  bool is_ramp = false;  // it began with Shift
};

/// A row above or below the tokens, or the tokens themselves.
struct FloorRow {
  enum class Kind {
    marks,
    lane,  // the first piece of `mark`: a horizontal bar under a label, upright if there are no labels
    words,
    captions,  // of groups
    links,     // links to tokens
    own,       // what `draw` draws
  };

  std::string name = {};  // of its part: "strength"
  Kind kind = Kind::marks;
  float height = 0;  // in design pixels; 0: a `share` of what the others leave
  float share = 1;
  float above = 0;  // free in it
  float below = 0;
  FloorLabel label = {};

  std::function<FloorMark(Index first, Index end)> mark = {};  // of the tokens from `first` to `end`
  std::uint64_t version = 0;  // of the data behind the marks, for caching; 0: marks are made in every frame
  FloorWidth width = FloorWidth::usual;
  float least = 1;  // least height of a bar above 0, in design pixels
  std::vector<FloorLevel> levels = {};

  std::function<std::string(Index token)> number = {};  // shown beside the bar if there is free room
  float least_numbered = 18;                            // narrower columns have no numbers
  float numbered_bar = 0;  // largest width of a bar with a number; 0: as other bars

  std::function<std::string(Index token)> tip = {};
  std::string tip_more = {};                           // below `tip`, or alone if that is empty
  std::function<void(const FloorStroke&)> paint = {};  // null: a drag moves the cursor
  std::string refusal = {};                            // why it cannot be painted, shown on a try

  struct Link {
    std::string words;
    ImU32 colour = 0;
    Index token = 0;
  };
  std::vector<Link> links = {};

  std::function<void(const FloorColumns&, const Rectangle&)> draw = {};
};

/// The groups of tokens, and their name: group n begins at token n * size.
struct FloorGroups {
  Index size = 1;
  bool is_whole = false;     // there is one group
  bool is_together = false;  // computed together: the group at the cursor has a frame
  std::string word = {};     // "chunk", "batch"; the whole caption if is_whole
  bool through = true;       // hairlines pass all rows, not their captions alone
};

struct Floor {
  std::string id = {};  // of its Dear ImGui items
  FloorText text = {};
  Index reached = 0;  // tokens from here on are still to come: paler
  FloorGroups groups = {};
  std::vector<Index> underlined = {};                // ascending
  std::vector<Index> repeated = {};                  // what playing repeats, ascending
  std::vector<FloorRow> rows = {};                   // downwards
  Index flagged = -1;                                // a token with a flag through all rows
  std::function<std::string(Index token)> tip = {};  // where a row has none
};

/// What the user did on a floor in this frame.
struct FloorActs {
  std::optional<Index> pressed = {};   // the token under the pointer while it is held,
  bool begins = false;                 // since this frame
  std::optional<Index> followed = {};  // the token that a link leads to
  std::string refusal = {};            // of the row that the user tries to paint
};

/// The places of the rows in a rectangle whose left side is that of the tokens, in screen pixels; pure.
std::vector<Rectangle> floor_rows(const Floor& floor, const Rectangle& room, const Ruler& ruler);

/// Draws the floor over `columns`, and handles zooming, scrolling, painting and pointing. Notes the parts
/// "floor/ROW", "floor/ROW/name", "floor/ROW/bar", "floor/ROW/number/TOKEN", "floor/words/TOKEN",
/// "floor/underline/TOKEN", "floor/cursor", "floor/group/TOKEN", "floor/tip".
FloorActs draw_floor(const Floor& floor, FloorView& view, const FloorColumns& columns);

/// A strip below the columns for the whole text, with the visible range and the cursor. Dragging it scrolls.
/// Draws nothing if everything is visible.
void draw_floor_overview(FloorView& view, const FloorColumns& columns, Index token);

/// The height of the strip, in screen pixels.
float floor_overview_height();

/// A part of the floor that was drawn last in the current scope ("gate", "words/42"); null if there is none.
const Part* floor_part(std::string_view name);

/// The marks, lines and numbers of a row in `place`, clipped by the current clip rectangle.
void draw_floor_marks(const Floor& floor, const FloorRow& row, const FloorColumns& columns,
                      const Rectangle& place);

/// The label of a row and the text of its lines, left of the columns, from the screen position `gutter` on.
/// Notes the part "ROW/name".
void draw_floor_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place, float gutter);

}  // namespace palimpsest
