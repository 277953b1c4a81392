#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/scene/ruler.h"
#include "core/base/matrix.h"

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

}  // namespace palimpsest
