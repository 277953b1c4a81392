#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>  // to own the mouse wheel while it zooms

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/views/asked_choice.h"
#include "app/views/floor.h"
#include "app/views/learn_rows.h"
#include "app/views/recalled_words.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/insight/asked_words.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_words = WordChoice{}.most;  // more are pinned: they share the room
constexpr float headline = 26;
constexpr float words_height = 24;
constexpr float caption_height = 16;
constexpr float low_panel = 400;  // below this height rows are as low as can be

/// Which channel of the gate is looked at; -1: all.
struct LookedAtChannel {
  Index channel = -1;
  std::string data;
};

/// A mark of the legend, from the right; returns where the next one ends.
float legend_from_right(float right, float y, ImU32 colour, bool hatched, std::string_view words) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float width = text_extent(words).x;
  learn_text({right - width, y}, c.dim, words);
  const float size = px(10);
  const ImVec2 from = {right - width - px(6) - size, y + (text_extent("x").y - size) / 2};
  const ImVec2 to = {from.x + size, from.y + size};
  if (hatched)
    hatch(ImGui::GetWindowDrawList(), from, to, colour);
  else
    ImGui::GetWindowDrawList()->AddRectFilled(from, to, colour);
  return from.x - px(16);
}

/// Which of the words so far have a row.
std::string which_words(const LearnRows& rows) {
  switch (asked_choice(rows.application.session).by) {
    case AskedBy::person:
      return "the words that you ask about";
    case AskedBy::guide:
      return "what is asked for at this word, and the word itself";
    case AskedBy::strength:
      break;
  }
  return fmt::format("the words written most strongly so far, of {}", rows.reached);
}

void draw_headline(const LearnRows& rows, bool is_alignment, ImVec2 from, float right) {
  const BesideColumns beside;  // the rows are clipped to the words
  const style::Palette& c = style::colours();
  const RecalledLegend& legend = recalled_legend(is_alignment);
  float x = from.x;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("what is measured", {std::max(right - from.x, 1.0F), px(headline - 4)});
  tooltip(recalled_measure(is_alignment, *rows.computed.variant));
  {
    const style::TextStyle text(style::Text::strong);
    learn_text(from, c.text, legend.title);
    x += text_extent(legend.title).x + px(14);
  }
  const float y = from.y + px(2);
  float end = right;
  if (right - from.x > px(760)) {
    end = legend_from_right(end, y, c.faint, true, "not yet there");
    end = legend_from_right(end, y, c.gate, false, "repaired");
    end = legend_from_right(end, y, c.alarm, false, "damaged by this word");
    end = legend_from_right(end, y, c.alarm, true, legend.excess);
    end = legend_from_right(end, y, c.good, false, legend.right);
  }
  const style::TextStyle text(style::Text::caption);
  const std::string words = which_words(rows);
  if (end - x > px(120)) learn_text({x, y}, c.dim, shortened(words, end - x));
}

/// The memory runs away here.
void draw_flag(const LearnRows& rows, float top, float bottom) {
  if (!rows.computed.divergence) return;
  const style::Palette& c = style::colours();
  const TimelineColumns& columns = rows.columns;
  const float x =
      (columns.left(rows.computed.divergence->token) + columns.left(rows.computed.divergence->token + 1)) / 2;
  if (x < columns.position.x || x > columns.position.x + columns.size.x) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({x, top}, {x, bottom}, c.alarm, px(1));
  list->AddTriangleFilled({x - px(5), top - px(7)}, {x + px(5), top - px(7)}, {x, top}, c.alarm);
}

/// The cursor follows the pointer over the words; the wheel zooms and scrolls.
void drag_over_words(Application& application, TimelineView& view, const TimelineColumns& columns, float top,
                     float bottom) {
  ImGui::SetCursorScreenPos({columns.position.x, top});
  ImGui::InvisibleButton("stored words", {columns.size.x, std::max(bottom - top, 1.0F)});
  scrub(application, view, columns);
}

void wheel(TimelineView& view, const TimelineColumns& columns, const Session& session, float top,
           float bottom) {
  const ImVec2 to = {columns.position.x + columns.size.x, bottom};
  if (!ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows) ||
      !ImGui::IsMouseHoveringRect({columns.position.x, top}, to))
    return;
  ImGui::SetKeyOwner(ImGuiKey_MouseWheelY, ImGui::GetID("stored words"));
  turn_wheel(view, columns, session);
}

/// How high the parts are.
struct FloorHeights {
  float remembered = 20;  // one of its rows
  float strengths = 56;
  float gates = 46;
  float errors = 46;
  float growth = 0;
};

FloorHeights heights_for(float room, bool grows, bool says_edges) {
  FloorHeights heights;
  if (room < px(low_panel)) heights = {.strengths = 38, .gates = 34, .errors = 34};
  if (grows) heights.growth = heights.gates;
  const auto lower = [&] { return heights.strengths + heights.gates + heights.errors + heights.growth; };
  const float rest =
      room / style::scale() - words_height - caption_height - (says_edges ? caption_height : 0);
  heights.remembered = std::clamp((rest - lower()) / static_cast<float>(most_words), 6.0F, 24.0F);
  const float more = (rest - heights.remembered * static_cast<float>(most_words)) / lower();
  for (float* height : {&heights.strengths, &heights.gates, &heights.errors, &heights.growth})
    *height = std::floor(*height * std::max(more, 1.0F));
  return heights;
}

/// Whether these are of so many tokens.
bool is_of(const TokenCourses& courses, Index tokens) {
  return (!courses.strengths || courses.strengths->reach.size() == tokens) &&
         (!courses.keeping || courses.keeping->mean.size() == tokens);
}

void draw_floor(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  auto& view = context_local<TimelineView>();
  const ImVec2 position = {from.x + px(timeline_gutter - style::panel_padding), from.y + px(headline)};
  const ImVec2 size = {to.x - position.x, to.y - position.y};
  if (size.x < px(60) || size.y < px(120) || computed.tokens.empty()) return;
  const TimelineColumns columns = timeline_columns(view, session, position, size);
  const LearnRows rows{application, computed, columns, session.token(), session.token() + 1, from.x};
  TimelineRows words(columns, session);

  auto& looked = context_local<LookedAtChannel>();
  if (looked.data != session.data().id) looked = {.data = session.data().id};
  const Known<TokenCourses> answer = ask_courses(application, looked.channel);
  if (!answer.reason.empty() && looked.channel >= 0) looked.channel = -1;  // the rule has fewer
  const bool fits = answer.value && is_of(*answer.value, static_cast<Index>(computed.tokens.size()));
  const TokenCourses none;
  const TokenCourses& courses = fits ? *answer.value : none;

  const bool says_edges = courses.edges.overshoots.has_value();
  const FloorHeights heights = heights_for(size.y, computed.divergence.has_value(), says_edges);
  const float row = std::floor(px(heights.remembered));
  float y = position.y + px(caption_height);
  const float words_top = y + row * static_cast<float>(most_words);
  words.groups(position.y, to.y);
  drag_over_words(application, view, columns, y, words_top + px(words_height));
  const auto remembered = draw_remembered(rows, courses, y, row, most_words);
  draw_headline(rows, remembered && remembered->is_alignment, from, to.x);
  words.words(words_top + px(2));
  y = words_top + px(words_height);
  const auto next = [&](float height) {
    const LearnRow lane = {y + px(2), y + px(height) - px(4)};
    y += px(height);
    return lane;
  };
  const float edges_top = says_edges ? next(caption_height).top : 0;
  draw_strengths(rows, courses, next(heights.strengths));
  draw_half_lives(rows, courses, next(heights.gates), looked.channel);
  if (words.has_errors()) draw_errors(rows, words, next(heights.errors));
  if (heights.growth > 0) draw_growth(rows, next(heights.growth));
  draw_flag(rows, position.y + px(caption_height), y);
  words.cursor(position.y + px(caption_height - 2), y);
  if (says_edges) draw_reach_edges(rows, courses, edges_top);
  wheel(view, columns, session, position.y, y);
}

}  // namespace

void draw_learn_floor(Application& application) {
  draw_floor_panel(application, "##learn floor", 12, 6, RowsAbove::own, [&](ImVec2 from, ImVec2 to) {
    if (!application.session.computed()) return;
    begin_learn_piece();
    draw_floor(application, from, to);
  });
}

}  // namespace palimpsest
