#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace palimpsest {

/// Left of the words, in design pixels from the panel's edge: what the rows are called. In every workspace
/// that has a floor the words begin here.
inline constexpr float timeline_gutter = 112;

/// Which part of the text the timeline shows, kept from frame to frame.
struct TimelineView {
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
struct TimelineColumns {
  ImVec2 position;
  ImVec2 size;
  Index tokens = 0;
  double first = 0;
  float column = 0;
  std::vector<float> edges = {};  // of the visible columns, the last one's right edge too; empty: all alike

  bool has_words() const { return !edges.empty(); }

  float left(Index token) const {
    if (edges.empty()) {
      return position.x +
             static_cast<float>((static_cast<double>(token) - first) * static_cast<double>(column));
    }
    const Index known = static_cast<Index>(edges.size()) - 1;
    const Index at = std::clamp<Index>(token - begin(), 0, known);
    return edges[static_cast<std::size_t>(at)] + static_cast<float>(token - begin() - at) * column;
  }
  float left_pixel(Index token) const { return std::round(left(token)); }
  float width(Index token) const { return left(token + 1) - left(token); }
  Index begin() const { return std::clamp<Index>(static_cast<Index>(std::floor(first)), 0, tokens); }
  Index end() const {
    if (!edges.empty()) return begin() + static_cast<Index>(edges.size()) - 1;
    return std::clamp<Index>(static_cast<Index>(std::ceil(first + static_cast<double>(size.x / column))), 0,
                             tokens);
  }
  /// The place of a point in the text: a token with its fraction, not beyond the columns that are known.
  double at(float x) const;
  Index token_at(float x) const {
    return std::clamp<Index>(static_cast<Index>(std::floor(at(x))), 0, std::max<Index>(tokens - 1, 0));
  }
};

/// The columns in the rectangle at `position`, after the view has been brought up to date: it shows new data
/// with its words as text, follows the cursor, and ends with the text.
TimelineColumns timeline_columns(TimelineView& view, const Session& session, ImVec2 position, ImVec2 size);

/// Makes columns wider (`factor` above 1) or narrower, so that what lies under `x` stays there.
void zoom_timeline(TimelineView& view, const TimelineColumns& columns, const Session& session, float factor,
                   float x);

}  // namespace palimpsest
