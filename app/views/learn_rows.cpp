#include "app/views/learn_rows.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/memory_questions.h"
#include "app/views/answer_cells.h"
#include "app/views/asked_choice.h"
#include "app/views/bar_words.h"
#include "app/views/recalled_words.h"
#include "app/views/underlined_words.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/insight/recall.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float still_to_come = 0.38F;  // of a colour
constexpr Index window_step = 64;       // tokens: a window moves by so many, so that scrolling asks seldom
constexpr Index most_moments = 1500;
constexpr double seen_change = 0.02;  // of a share: less is no damage that one could see

/// The memory after every visible token, or some of them.
std::vector<Index> moments_of(const TimelineColumns& columns) {
  const Index begin = columns.begin() / window_step * window_step;
  const Index end = std::min((columns.end() / window_step + 1) * window_step, columns.tokens);
  const Index step = std::max<Index>((end - begin) / most_moments + 1, 1);
  std::vector<Index> moments;
  for (Index t = begin; t <= end; t += step) moments.push_back(t);
  if (moments.back() != end) moments.push_back(end);
  return moments;
}

/// “drum” (42)
std::string numbered_word(const LearnRows& rows, Index token) {
  return fmt::format("{} ({})", quoted_word(rows.computed, token), token);
}

void draw_remembered_word(const LearnRows& rows, const Remembered& remembered, Index word, float top,
                          float bottom) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Index token = remembered.tokens[static_cast<std::size_t>(word)];
  const Trace* trace = rows.application.session.trace();
  const bool gathers = trace && trace->groups.kind == Groups::Kind::batches;
  const float height = bottom - top;
  const auto share_after = [&](Index count) {
    const auto at = std::ranges::upper_bound(remembered.moments, count);
    const auto index = std::max<std::ptrdiff_t>(at - remembered.moments.begin() - 1, 0);
    return remembered.shares(word, static_cast<Index>(index));
  };
  LearnMap::Lane lane;
  lane.token = token;
  lane.place = {{rows.columns.position.x, top}, {rows.columns.position.x + rows.columns.size.x, bottom}};
  std::optional<RecalledAt> hovered;
  float hatched_until = rows.columns.position.x;
  each_column(rows.columns, [&](Index first, Index end, float left, float right) {
    const double share_now = share_after(end);
    const double share_before = share_after(first);
    const auto [share, excess] = recalled_part(share_now);
    const double before = recalled_part(share_before).right;
    const bool waits = gathers && first >= token &&
                       end <= (token / trace->groups.size + 1) * trace->groups.size &&
                       share_now == share_before && share_after(token) == share_now;
    const bool is_there = end > token && !waits;
    const bool is_own = is_there && first <= token;
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({left, top}, {right, bottom}))
      hovered = {numbered_word(rows, token),
                 numbered_word(rows, end - 1),
                 share_before,
                 share_now,
                 remembered.is_alignment,
                 is_own,
                 is_there,
                 remembered.is_alignment ? 0 : std::ssize(remembered.tokens) - 1};
    if (!is_there) {
      hatched_until = right;
      return;
    }
    const auto y = [&](double of) { return bottom - static_cast<float>(of) * height; };
    if (excess > 0) {
      const float beyond = y(std::min(share + excess, 1.0));
      list->AddRectFilled({left, beyond}, {right, y(share)},
                          rows.ink(style::mix(c.panel, c.alarm, 0.15F), first));
      hatch(list, {left, beyond}, {right, y(share)}, rows.ink(c.alarm, first));
      if (first <= rows.token && rows.token < end) lane.excess = {{left, beyond}, {right, y(share)}};
    }
    if (first <= rows.token && rows.token < end) {
      lane.share = share_now;
      lane.right = {{left, y(share)}, {right, bottom}};
    }
    list->AddRectFilled({left, y(share)}, {right, bottom},
                        rows.ink(style::mix(c.panel, c.good, 0.5F), first));
    list->AddRectFilled({left, y(share) - px(1)}, {right, y(share) + px(1)}, rows.ink(c.good, first));
    if (is_own) {
      list->AddRectFilled({left, top}, {left + px(2), bottom}, c.good);
      return;
    }
    const float inset = right - left > px(6) ? px(1) : 0.0F;
    if (before - share > seen_change)
      list->AddRectFilled({left + inset, y(before)}, {right - inset, y(share) - px(1)},
                          rows.ink(c.alarm, first));
    if (share - before > seen_change)
      list->AddRectFilled({left + inset, y(share) - px(1)}, {right - inset, y(before)},
                          rows.ink(c.gate, first));
  });
  hatch(list, {rows.columns.position.x, top + 1}, {hatched_until, bottom}, style::mix(c.panel, c.edge, 0.8F));
  learn_map().lanes.push_back(lane);
  if (hovered && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
    ImGui::SetTooltip("%s", recalled_words(*hovered).c_str());
}

/// An item over a row, for its tooltip.
void cover_row(const LearnRows& rows, const LearnRow& row) {
  ImGui::SetCursorScreenPos({rows.columns.position.x, row.top});
  ImGui::Dummy({rows.columns.size.x, std::max(row.bottom - row.top, 1.0F)});
}

void draw_word_name(const LearnRows& rows, Index token, float top, float height) {
  const style::Palette& c = style::colours();
  const bool here = token == rows.token;
  const float right = rows.columns.position.x - px(10);
  float x = right;
  {
    const style::TextStyle number(style::Text::number_small);
    const std::string words = std::to_string(token);
    const ImVec2 extent = text_extent(words);
    learn_text({right - extent.x, top + (height - extent.y) / 2}, c.dim, words);
    x = right - std::max(extent.x, px(22)) - px(8);
  }
  const style::TextStyle text(here              ? style::Text::strong
                              : height < px(15) ? style::Text::caption
                                                : style::Text::body);
  const std::string whole = visible_label(rows.computed.data->labels[static_cast<std::size_t>(token)]);
  const float room = x - rows.gutter;
  const std::string label = text_extent(whole).x <= room ? whole : shortened(asked_part(whole), room);
  const ImVec2 extent = text_extent(label);
  learn_text({x - extent.x, top + (height - extent.y) / 2}, c.text, label);
}

/// The words that Step's table asks at the same token.
Known<std::vector<AskedWord>> words_of(const LearnRows& rows) {
  Session& session = rows.application.session;
  return session.questions().ask(
      WordsAsked{.of = session.computed(), .token = rows.token, .words = asked_choice(session).words});
}

/// A reason in the place of rows.
void draw_reason(const LearnRows& rows, const std::string& reason, float top, float bottom) {
  const style::TextStyle text(style::Text::body);
  const float width = std::min(rows.columns.size.x, px(640));
  const ImVec2 extent = ImGui::CalcTextSize(reason.c_str(), nullptr, false, width);
  const ImVec2 from = {rows.columns.position.x + (rows.columns.size.x - extent.x) / 2,
                       std::max((top + bottom - extent.y) / 2, top)};
  const float around = px(6);  // no edge of a chunk crosses the words
  ImGui::GetWindowDrawList()->AddRectFilled({from.x - around, from.y - around},
                                            {from.x + extent.x + around, from.y + extent.y + around},
                                            style::colours().panel);
  ImGui::SetCursorScreenPos(from);
  ImGui::PushStyleColor(ImGuiCol_Text, style::colours().dim);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + extent.x + 1);
  ImGui::TextUnformatted(reason.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

}  // namespace

std::vector<Index>& learn_lanes() {
  struct Lanes {
    std::vector<Index> tokens;
  };
  return context_local<Lanes>().tokens;
}

ImU32 LearnRows::ink(ImU32 colour, Index of) const {
  return of < reached ? colour : style::mix(style::colours().panel, colour, still_to_come);
}

void each_column(const TimelineColumns& columns,
                 const std::function<void(Index first, Index end, float left, float right)>& draw) {
  const float right_end = columns.position.x + columns.size.x;
  for (Index first = columns.begin(); first < columns.end();) {
    const float left = std::max(columns.left_pixel(first), columns.position.x);
    Index end = first + 1;
    while (end < columns.end() && columns.left_pixel(end) <= left) ++end;
    const float right = std::min(columns.left_pixel(end), right_end);
    if (right > left) draw(first, end, left, right);
    first = end;
  }
}

void tell_bar(const LearnRows& rows, const std::function<std::string(Index)>& words, std::string_view more) {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled)) return;
  const std::string said = words(rows.columns.token_at(ImGui::GetMousePos().x));
  if (said.empty() && more.empty()) return;
  learn_map().told = said;
  const style::TextStyle text(style::Text::body);  // whatever the row is written in
  tooltip(said + (said.empty() || more.empty() ? "" : "\n") + std::string(more));
}

void draw_row_name(const LearnRows& rows, const LearnRow& row, const std::string& symbol, ImU32 colour,
                   std::string_view words, float below) {
  const style::TextStyle text(style::Text::caption);
  const float line = text_extent("x").y;
  const float baseline = row.top + ImGui::GetFontBaked()->Ascent;
  if (!symbol.empty()) learn_formula({rows.gutter, baseline}, symbol, px(15), colour);
  const float width = rows.columns.position.x - rows.gutter - px(26);
  if (below > 0 && row.bottom - row.top < 2 * line + below)
    learn_text({rows.gutter + px(18), row.top}, style::colours().dim, shortened(words, width - px(18)));
  else if (row.bottom - row.top >= 2 * line)
    learn_text({rows.gutter, row.top + line + px(1)}, style::colours().dim, shortened(words, width));
}

std::shared_ptr<const Remembered> draw_remembered(const LearnRows& rows, const TokenCourses& courses,
                                                  float top, float row, Index count) {
  const BesideColumns gutter;
  const float bottom = top + row * static_cast<float>(count);
  if (!courses.strengths) {
    if (!courses.no_strengths.empty()) draw_reason(rows, courses.no_strengths, top, bottom);
    return nullptr;
  }
  RememberedWords key;
  key.of = rows.application.session.computed();
  const auto words = words_of(rows);
  if (!words.reason.empty()) draw_reason(rows, words.reason, top, bottom);
  if (!words.value) return nullptr;
  for (const AskedWord& word : *words.value) key.tokens.push_back(word.token);
  name_words(key.tokens);
  key.moments = moments_of(rows.columns);
  const Known<Remembered> answer = rows.application.session.questions().ask(key);
  if (!answer.reason.empty()) draw_reason(rows, answer.reason, top, bottom);
  if (!answer.value) return nullptr;
  const Remembered& remembered = *answer.value;
  learn_lanes() = remembered.tokens;
  float y = top;
  row =
      std::min(row, (bottom - top) / static_cast<float>(std::max<std::size_t>(remembered.tokens.size(), 1)));
  for (std::size_t i = 0; i < remembered.tokens.size(); ++i, y += row) {
    if (remembered.tokens[i] >= rows.columns.tokens) return nullptr;  // of other data
    draw_remembered_word(rows, remembered, static_cast<Index>(i), y + px(2), y + row - px(1));
    draw_word_name(rows, remembered.tokens[i], y, row);
  }
  return answer.value;
}

void draw_errors(const LearnRows& rows, TimelineRows& words, const LearnRow& row) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  words.errors(row.top, row.bottom);
  learn_map().errors = {{rows.columns.position.x, row.top},
                        {rows.columns.position.x + rows.columns.size.x, row.bottom}};
  cover_row(rows, row);
  tell_bar(rows, [&](Index token) { return error_bar_words(rows.computed, token); });
  const BesideColumns gutter;
  {
    const style::TextStyle number(style::Text::number_small);
    learn_text_right({rows.columns.position.x - px(6), row.top}, c.dim,
                     plain_number(timeline_map().full_error, 2));
  }
  const style::TextStyle text(style::Text::caption);
  const float line = text_extent("x").y;
  learn_text({rows.gutter, row.top}, c.dim, "error");
  if (row.bottom - row.top < 2 * line) return;
  const float y = row.top + line + px(4);
  list->AddRect({rows.gutter, y + px(2)}, {rows.gutter + px(8), y + px(10)}, c.error);
  learn_text({rows.gutter + px(12), y - px(1)}, c.dim, "was");
  const float x = rows.gutter + px(18) + text_extent("was").x;
  list->AddRectFilled({x, y + px(2)}, {x + px(8), y + px(10)}, c.error);
  learn_text({x + px(12), y - px(1)}, c.dim, "is");
}

void draw_growth(const LearnRows& rows, const LearnRow& row) {
  const BesideColumns gutter;
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_row_name(rows, row, "|S|", c.text, "on a log axis");
  cover_row(rows, row);
  tell_bar(rows, [&](Index token) { return growth_bar_words(rows.computed, token); });
  const auto size_of = [&](Index token) {
    const Recall* recall = rows.computed.recall(token);
    return recall ? recall->root_mean_square : 0;
  };
  Chart chart{.from = {rows.columns.position.x, row.top},
              .to = {rows.columns.position.x, row.bottom},
              .logarithmic = true};
  chart.bottom = 1e300;
  chart.top = 0;
  each_column(rows.columns, [&](Index, Index end, float, float) {
    const double size = size_of(end - 1);
    if (!(size > 0) || !std::isfinite(size)) return;
    chart.bottom = std::min(chart.bottom, size);
    chart.top = std::max(chart.top, size);
  });
  if (!(chart.top > chart.bottom)) return;
  chart.bottom /= 2;
  each_column(rows.columns, [&](Index first, Index end, float left, float right) {
    const double size = size_of(end - 1);
    const float y = std::isfinite(size) ? std::clamp(chart.y(size), row.top, row.bottom) : row.top;
    const bool ran_away = rows.computed.divergence && end - 1 >= rows.computed.divergence->token;
    list->AddRectFilled({left, y}, {right - (right - left > 3 ? 1.0F : 0.0F), row.bottom},
                        rows.ink(ran_away ? c.alarm : c.dim, first));
  });
  const style::TextStyle number(style::Text::number_small);
  learn_text_right({rows.columns.position.x - px(6), row.top}, c.dim, fmt::format("{:.0e}", chart.top));
}

}  // namespace palimpsest
