#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <ranges>

#include "app/gl/context_local.h"
#include "app/views/floor.h"
#include "app/views/prove.h"
#include "app/views/timeline_columns.h"
#include "app/views/timeline_rows.h"
#include "app/views/transport.h"
#include "app/widgets/controls.h"
#include "app/widgets/segments.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float headline = 30;
constexpr float caption_height = 16;
constexpr float words_height = 24;
constexpr float row_height = 12;  // of what a word keeps and writes
constexpr float errors_height = 50;
constexpr float least_chart = 120;
constexpr float below_chart = 8;

/// Returns where the row begins.
float draw_lens_choice(Application& application, float right, float y) {
  ProveState prove = application.session.state().prove;
  float width = 0;
  for (const ProofLens lens : all_proof_lenses) width += style::segment_size(name(lens)).x;
  float x = right - width;
  for (const ProofLens lens : all_proof_lenses) {
    ImGui::SetCursorScreenPos({x, y});
    x += style::segment_size(name(lens)).x;
    if (!style::segment_button(name(lens), lens == prove.lens,
                               {.first = lens == ProofLens::forms, .last = lens == ProofLens::both}))
      continue;
    prove.lens = lens;
    application.session.change_prove(prove);
  }
  return right - width;
}

/// What the marks of lost numbers mean, as far as there are such; returns where it begins.
float draw_marks_legend(const ProofLines& all, float right, float y) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float height = text_extent("x").y;
  const float end = right;
  const std::vector<LostNumber::As> kinds = lost_kinds(all);
  for (const LostNumber::As as : kinds | std::views::reverse) {
    const char* const words = in_words(as);
    prove_map().marks_legend += words;
    right -= text_extent(words).x;
    draw_text({right, y}, c.dim, words);
    right -= px(12);
    draw_plot_marker({right + px(4), y + height / 2}, lost_look(as));
    right -= px(12);
  }
  if (right == end) return right;
  ImGui::SetCursorScreenPos({right, y});
  ImGui::InvisibleButton("what the marks mean", {end - right, height});
  tooltip(
      "Marks above the words: the first number of each kind that a coarser arithmetic loses on its way, one "
      "row of marks for each arithmetic. A number underflows where it is smaller than any that the "
      "arithmetic "
      "holds: f32, tf32 and bf16 hold them down to about 1e-38, f16 to 6e-8. It cancels where of rounded "
      "numbers "
      "that are added and taken away nothing is left. Rest on a mark to see which.");
  return right;
}

void draw_headline(Application& application, const ProofLines& all, ImVec2 from, float right) {
  const style::Palette& c = style::colours();
  const bool is_fragile = !application.session.state().prove.fragile.empty();
  float end = right;
  if (!is_fragile)
    end =
        draw_marks_legend(all, draw_lens_choice(application, right, from.y - px(2)) - px(16), from.y + px(2));
  float x = from.x;
  {
    const style::TextStyle text(style::Text::strong);
    draw_text(from, c.text, "How far from the recurrence, word by word");
    x += text_extent("How far from the recurrence, word by word").x + px(14);
  }
  const style::TextStyle text(style::Text::caption);
  const float room = end - x - px(16);
  const std::string words =
      all.awaited > 0 ? fmt::format("{} more being computed …", all.awaited)
                      : std::string("largest difference at a word, as a share of the largest output");
  if (room > px(100)) draw_text({x, from.y + px(2)}, c.dim, shortened(words, room));
}

void tell_values(const Computation& computed, const ProofLines& all, float bottom,
                 const TimelineColumns& columns) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsItemHovered() || ImGui::IsItemActive() || mouse.y > bottom) return;
  const Index token = columns.token_at(mouse.x);
  std::string words = numbered_word(computed, token);
  for (const ProofCurve& line : all.lines)
    words += fmt::format("\n{}: {}", line.words, scientific((*line.errors)[static_cast<std::size_t>(token)]));
  ImGui::SetTooltip("%s", words.c_str());
}

void draw_floor(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  const style::Palette& c = style::colours();
  auto& view = context_local<TimelineView>();
  ProofLines all = proof_lines(application);
  // While other data come, what is shown may be of other words than the lines.
  std::erase_if(all.lines, [&](const ProofCurve& line) {
    return line.errors->size() != session.computed()->tokens.size();
  });
  draw_headline(application, all, from, to.x);
  const ImVec2 position = {from.x + px(timeline_gutter - style::panel_padding), from.y + px(headline)};
  const ImVec2 size = {to.x - position.x, to.y - position.y};
  if (size.x < px(60) || size.y < px(80)) return;
  const TimelineColumns columns = timeline_columns(view, session, position, size);
  TimelineRows words(columns, session);
  const float rows_height = (words.has_kept() ? row_height : 0) + (words.has_written() ? row_height : 0) +
                            (words.has_errors() ? errors_height : 0);
  const bool has_rows = size.y >= px(least_chart + words_height + caption_height + rows_height) &&
                        (words.has_kept() || words.has_written() || words.has_errors());
  const float chart_bottom = to.y - px(caption_height + words_height + (has_rows ? rows_height : 0));
  words.groups(to.y - px(caption_height), to.y);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton("proved words", size);
  scrub(application, view, columns);
  turn_wheel_over_item(view, columns, session);
  const Rectangle room = {{position.x, position.y + px(4)},
                          {position.x + size.x, chart_bottom - px(below_chart)}};
  tell_values(computed, all, room.maximum.y - px(12), columns);
  const WordPlaces places = {columns.begin(), columns.end(), static_cast<double>(size.x), [&](Index token) {
                               return static_cast<double>(columns.left(token) - position.x);
                             }};
  list->PushClipRectFullScreen();  // rows are clipped to the words
  draw_plot(difference_plot(application, all, places, below_chart + words_height), room);
  list->PopClipRect();
  const float words_top = chart_bottom;
  words.words(words_top + px(2));
  prove_map().floor_text = {{position.x, words_top}, {position.x + size.x, words_top + px(words_height)}};
  float bottom = words_top + px(words_height);
  if (has_rows) {
    const style::TextStyle text(style::Text::caption);
    float row = bottom;
    if (words.has_kept()) {
      words.kept(row);
      words.name("kept", row + px(4), c.gate);
      row += px(row_height);
    }
    if (words.has_written()) {
      words.written(row);
      words.name("written", row + px(4), c.strength);
      row += px(row_height);
    }
    if (words.has_errors()) {
      words.errors(row + px(4), bottom + px(rows_height) - px(3));
      words.name(computed.edited ? "error if correct" : "before, after", (row + bottom + px(rows_height)) / 2,
                 c.alarm);
    }
    bottom += px(rows_height);
  }
  words.cursor(words_top, bottom);
}

}  // namespace

void draw_prove_floor(Application& application) {
  draw_floor_panel(application, "##prove floor", 12, 4, RowsAbove::none, [&](ImVec2 from, ImVec2 to) {
    const bool has_words = !application.session.computed()->tokens.empty();
    if (has_words && application.session.computed()) draw_floor(application, from, to);
  });
}

}  // namespace palimpsest
