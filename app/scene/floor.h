#pragma once

#include "app/scene/parts.h"
#include "app/scene/ruler.h"

// The floor of a workspace as a value: the words of a text, and under and over them rows of marks.
// draw_floor() alone knows where they lie.

namespace palimpsest {

/// Left of the words, in design pixels from the panel's edge: what the rows are called. In every workspace
/// that has a floor the words begin here.
inline constexpr float floor_gutter = 112;

/// What the columns are made of: a word each.
struct FloorText {
  std::string_view id;                  // of the data: others are shown from their begin
  std::span<const std::string> labels;  // as the data have them
  Index tokens = 0;                     // of which so many are there
  Index token = 0;                      // at the cursor
};

/// Which part of the text all floors show, kept from frame to frame.
struct FloorView {
  double first = 0;  // the token at the left edge, with its fraction
  float column = 0;  // the mean width of a token in screen pixels; 0: not yet chosen

  std::string data_id;  // what it was chosen for, and
  float scale = 0;      // for how large letters
  float natural = 0;    // the mean width at which words can be read
  Index followed = -1;  // the token that was last brought into view,
  float width = 0;      // and in how much room
};

/// Where the columns of the visible tokens lie, in screen pixels. Where words are written each column is as
/// wide as its word; else all are alike.
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
  /// The place of a point in the text: a token with its fraction, not beyond the columns that are known.
  double at(float x) const;
  Index token_at(float x) const {
    return std::clamp<Index>(static_cast<Index>(std::floor(at(x))), 0, std::max<Index>(tokens - 1, 0));
  }
  bool shows(Index token) const { return token >= begin() && token < end(); }
  /// Whether some of the text lies outside.
  bool is_longer() const { return first > 0 || end() < tokens || left(tokens) > position.x + size.x + 1; }

  /// Calls `draw(first, end, left, right)` for every visible column of at least a pixel: one token, or
  /// several where they share one; none is left out.
  template <class Draw>
  void each(Draw draw) const {
    const Index stop = end();
    const float edge = left_pixel(stop);
    for (Index token = begin(); token < stop;) {
      const float from = left_pixel(token);
      Index last = token + 1;
      float to = left_pixel(last);
      // What would begin where all ends belongs to the last column.
      while (last < stop && (to <= from || to >= edge)) to = left_pixel(++last);
      draw(token, last, from, std::max(to, from + 1));
      token = last;
    }
  }
};

/// The columns in the rectangle at `position`, after the view has been brought up to date: it shows new data
/// with its words as text, follows the cursor, and ends with the text.
FloorColumns floor_columns(FloorView& view, const FloorText& text, const Ruler& ruler, ImVec2 position,
                           ImVec2 size);

/// Makes columns wider (`factor` above 1) or narrower, so that what lies under `x` stays there.
void zoom_floor(FloorView& view, const FloorColumns& columns, const FloorText& text, const Ruler& ruler,
                float factor, float x);

/// The numbers from the lower side of a row to its upper one.
struct FloorScale {
  double bottom = 0;
  double top = 1;
  bool logarithmic = false;  // both ends are then positive

  /// How high a number lies: 0 at the bottom, 1 at the top, beyond them too; 0 where a logarithm has none.
  float part(double value) const;
  double value(float part) const;
};

/// Something in the column of a token: from one part of the row's height to another, 0 below and 1 above.
struct FloorPiece {
  enum class Kind {
    fill,
    inset,    // filled, a pixel away from the sides where there is room
    outline,  // where columns are too narrow for it, filled in a paler colour
    hatch,    // slanted lines: what is not there, or too much
    edge,     // a line at `to`
    side,     // a line at the left side
    whisker,  // a line in the middle, where columns are wide enough
    cut,      // a notch near the upper side: what ends there goes on. `from` counts them, downwards
  };

  Kind kind = Kind::fill;
  float from = 0;
  float to = 0;
  ImU32 colour = 0;
};

/// What is drawn of a token, or of several that share a pixel; later pieces lie over earlier ones.
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

/// A line through a row at a part of its height, with what stands beside it in the gutter.
struct FloorLevel {
  float part = 0;
  std::string words = {};
  ImU32 ink = 0;     // of the words
  ImU32 colour = 0;  // of the line; 0: there is none
  float width = 1;   // in design pixels, as all that follow
  bool dashed = false;
  float least_row = 0;  // in lower rows the words are left out
};

/// What a row is called, in the gutter.
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
      {};                   // in place of all of them where there is room for one: the first that fits
  std::string symbol = {};  // LaTeX, in the place of the first line of a label at the left
  ImU32 symbol_colour = 0;
  bool left = false;     // at the panel's edge, from the top down; else beside the words, in the row's middle
  bool top = false;      // beside the words, but from the top down
  float room_below = 0;  // that something else takes
  std::string number = {};  // between it and the words, in a column of its own
};

/// How wide a mark is in its column.
enum class FloorWidth {
  whole,  // with no gap: what goes on from token to token
  usual,
  narrow,  // with a wider gap, where there is room
  slim,    // no wider than 18 design pixels
};

/// What a drag in a row has come to: the tokens from `last`, where it was a frame before, to `token`.
struct FloorStroke {
  Index first = 0;  // where it began, and
  float first_part = 0;
  Index last = 0;
  Index token = 0;
  float part = 0;  // how high the pointer is
  bool begins = false;
  bool is_ramp = false;  // it began with Shift
};

/// A row over or under the words, or the words themselves.
struct FloorRow {
  enum class Kind {
    marks,
    lane,  // bars that lie under words, and stand where there are none; of `mark` the first piece
    words,
    captions,  // of groups
    links,     // words that lead to tokens
    own,       // what `draw` draws
  };

  std::string name = {};  // of its part: "strength"
  Kind kind = Kind::marks;
  float height = 0;  // in design pixels; 0: of what the others leave, `share`
  float share = 1;
  float above = 0;  // free in it
  float below = 0;
  FloorLabel label = {};

  std::function<FloorMark(Index first, Index end)> mark = {};  // of the tokens from `first` to `end`
  std::uint64_t version = 0;  // of what marks are made from, so that they can be kept; 0: made in every frame
  FloorWidth width = FloorWidth::usual;
  float least = 1;  // of a bar that is longer than nothing, in design pixels
  std::vector<FloorLevel> levels = {};

  std::function<std::string(Index token)> number = {};  // beside its bar, where it lies over nothing
  float least_numbered = 18;                            // columns that are narrower have none
  float numbered_bar = 0;  // how wide a bar is at most that has a number; 0: as the others

  std::function<std::string(Index token)> tip = {};
  std::string tip_more = {};                           // below it, and where it says nothing
  std::function<void(const FloorStroke&)> paint = {};  // null: a drag moves the cursor
  std::string refusal = {};                            // why it cannot be painted, though one may try

  struct Link {
    std::string words;
    ImU32 colour = 0;
    Index token = 0;
  };
  std::vector<Link> links = {};

  std::function<void(const FloorColumns&, const Rectangle&)> draw = {};
};

/// The tokens that belong together, and what they are called: group n holds those from n size on.
struct FloorGroups {
  Index size = 1;
  bool is_whole = false;     // there is one
  bool is_together = false;  // they are taken at once: that of the cursor is framed
  std::string word = {};     // "chunk", "batch"; of the whole, all that is said
  bool through = true;       // hairlines pass all rows, not their captions alone
};

struct Floor {
  std::string id = {};  // of the item that is dragged
  FloorText text = {};
  Index reached = 0;  // tokens from here on are still to come: paler
  FloorGroups groups = {};
  std::vector<Index> underlined = {};                // ascending
  std::vector<Index> repeated = {};                  // what playing repeats, ascending
  std::vector<FloorRow> rows = {};                   // downwards
  Index flagged = -1;                                // a token with a flag through all rows
  std::function<std::string(Index token)> tip = {};  // where a row has none
};

/// What somebody did on a floor in this frame.
struct FloorActs {
  std::optional<Index> pressed = {};   // the token under the pointer while it is held,
  bool begins = false;                 // since this frame
  std::optional<Index> followed = {};  // the token that a link leads to
  std::string refusal = {};            // of the row that somebody tries to paint
};

/// Where the rows lie in a rectangle whose left side is that of the words; pure.
std::vector<Rectangle> floor_rows(const Floor& floor, const Rectangle& room, const Ruler& ruler);

/// Draws it over `columns`, and lets it be zoomed, scrolled, painted and pointed at. Notes the parts
/// "floor/ROW", "floor/ROW/name", "floor/ROW/bar", "floor/ROW/number/TOKEN", "floor/words/TOKEN",
/// "floor/underline/TOKEN",
/// "floor/cursor", "floor/group/TOKEN", "floor/tip".
FloorActs draw_floor(const Floor& floor, FloorView& view, const FloorColumns& columns);

/// A strip below the columns that stands for the whole text: what is in view, and the cursor. Dragging it
/// scrolls. Draws nothing where all is in view.
void draw_floor_overview(FloorView& view, const FloorColumns& columns, Index token);

/// How much height it takes, in screen pixels.
float floor_overview_height();

/// The part of the floor that was drawn last in the present scope ("gate", "words/42"); null: it has none.
const Part* floor_part(std::string_view name);

/// How much of its colour a token keeps that is still to come.
inline constexpr float floor_to_come = 0.38F;

/// The marks, lines and numbers of a row in `place`, over the present clip rectangle.
void draw_floor_marks(const Floor& floor, const FloorRow& row, const FloorColumns& columns,
                      const Rectangle& place);

/// What it is called and the words of its lines, left of the columns from `gutter` on. Notes the part
/// "ROW/name".
void draw_floor_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place, float gutter);

}  // namespace palimpsest
