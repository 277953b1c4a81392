#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace palimpsest {

/// Which part of the text the timeline shows, kept from frame to frame.
struct TimelineView {
  double first = 0;  // the token at the left edge, with its fraction
  float column = 0;  // the width of a token in screen pixels; 0: not yet chosen

  std::string data_id;  // what it was chosen for
  Index followed = -1;  // the token that was last brought into view
  std::uint64_t version = 0;
  double common_error =
      0;  // the height of the bars for all tokens and all rules, so that they can be compared
  double largest_error = 0;  // their height now: that, or the largest of the visible
  double largest_beta = 1;
};

/// Where the columns of the visible tokens lie, in screen pixels.
struct TimelineColumns {
  ImVec2 position;
  ImVec2 size;
  Index tokens = 0;
  double first = 0;
  float column = 0;

  float left(Index token) const {
    return position.x +
           static_cast<float>((static_cast<double>(token) - first) * static_cast<double>(column));
  }
  float left_pixel(Index token) const { return std::round(left(token)); }
  Index begin() const { return std::clamp<Index>(static_cast<Index>(std::floor(first)), 0, tokens); }
  Index end() const {
    return std::clamp<Index>(static_cast<Index>(std::ceil(first + static_cast<double>(size.x / column))), 0,
                             tokens);
  }
  Index token_at(float x) const {
    const double token = first + static_cast<double>((x - position.x) / column);
    return std::clamp<Index>(static_cast<Index>(std::floor(token)), 0, std::max<Index>(tokens - 1, 0));
  }
};

/// The groups of tokens that the floor drew last, each with its caption: what the tests look at.
struct TimelineMap {
  struct Group {
    std::string words;
    Index first = 0;
    Index count = 0;
  };
  std::vector<Group> groups;
};

/// That of the current Dear ImGui context.
TimelineMap& timeline_map();

/// Draws the text, group by group of the present form, with the bars of every token; draws only what is
/// visible. `marked` is the first token at which forms disagree, -1 if none does.
void draw_timeline_columns(const TimelineColumns& columns, const TimelineView& view, const Session& session,
                           Index marked);

}  // namespace palimpsest
