#pragma once

#include <functional>

#include "app/views/learn.h"
#include "app/views/timeline_rows.h"

namespace palimpsest {

/// What the rows of the floor in Learn are drawn with.
struct LearnRows {
  Application& application;
  const Computation& computed;
  const TimelineColumns& columns;
  Index token = 0;    // at the cursor
  Index reached = 0;  // tokens from here on are still to come
  float gutter = 0;   // the left end of what rows are called

  /// A colour, paler where the token is still to come.
  ImU32 ink(ImU32 colour, Index of) const;
};

/// The gutter can be drawn into too while this lives: TimelineRows keep to the columns.
class BesideColumns {
 public:
  BesideColumns() { list_->PushClipRectFullScreen(); }
  ~BesideColumns() { list_->PopClipRect(); }
  BesideColumns(const BesideColumns&) = delete;
  BesideColumns& operator=(const BesideColumns&) = delete;

 private:
  ImDrawList* list_ = ImGui::GetWindowDrawList();
};

/// Where a row lies.
struct LearnRow {
  float top = 0;
  float bottom = 0;
};

/// Calls `draw(first, end, left, right)` for every visible column of at least a pixel: one token, or several
/// where they share one.
void each_column(const TimelineColumns& columns,
                 const std::function<void(Index first, Index end, float left, float right)>& draw);

/// What each of the words asked still answers; `row` is the height of one of `count`, less where there are
/// more. Returns what was drawn, null if nothing was.
std::shared_ptr<const Remembered> draw_remembered(const LearnRows& rows, const TokenCourses& courses,
                                                  float top, float row, Index count);

/// The tokens of the words drawn last in the current Dear ImGui context: what the tests look at.
std::vector<Index>& learn_lanes();

/// beta |k|^2 with lines at 1 and 2; painted with the mouse.
void draw_strengths(const LearnRows& rows, const TokenCourses& courses, const LearnRow& row);

/// A line that names the first words beyond the edges of the strengths, and leads there.
void draw_reach_edges(const LearnRows& rows, const TokenCourses& courses, float top);

/// Half-lives; painted with the mouse, in every channel or in `channel`.
void draw_half_lives(const LearnRows& rows, const TokenCourses& courses, const LearnRow& row, Index& channel);

/// How far an answer was from its word before and after its write.
void draw_errors(const LearnRows& rows, TimelineRows& words, const LearnRow& row);

/// How large the memory has grown, on a log scale.
void draw_growth(const LearnRows& rows, const LearnRow& row);

/// Tells in a tooltip what the bar of the row under the pointer is, in the `words` of its token, with what
/// can be done there (`more`). The row is the last item.
void tell_bar(const LearnRows& rows, const std::function<std::string(Index)>& words,
              std::string_view more = {});

/// What a row is called, left of it: a symbol and words. `below`: what is needed under both, in screen
/// pixels.
void draw_row_name(const LearnRows& rows, const LearnRow& row, const std::string& symbol, ImU32 colour,
                   std::string_view words, float below = 0);

}  // namespace palimpsest
