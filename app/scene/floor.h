#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/scene/floor_columns.h"
#include "app/scene/parts.h"
#include "app/widgets/heat_map.h"

// The floor of a workspace as a value: the words of a text, and under and over them rows of marks.
// draw_floor() alone knows where they lie.

namespace palimpsest {

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

  bool operator==(const FloorPiece&) const = default;
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

  /// The first piece of a kind; null: there is none.
  const FloorPiece* find(FloorPiece::Kind kind) const;

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
