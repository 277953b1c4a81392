#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <ranges>

#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/views/prove.h"
#include "app/views/transport.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float headline = 30;
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

/// How far every line is off at a word.
std::string values_words(const Computation& computed, const ProofLines& all, Index token) {
  std::string words = numbered_word(computed, token);
  for (const ProofCurve& line : all.lines)
    words += fmt::format("\n{}: {}", line.words, scientific((*line.errors)[static_cast<std::size_t>(token)]));
  return words;
}

void draw_proved_rows(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  ProofLines all = proof_lines(application);
  // While other data come, what is shown may be of other words than the lines.
  std::erase_if(all.lines,
                [&](const ProofCurve& line) { return line.errors->size() != computed.tokens.size(); });
  draw_headline(application, all, from, to.x);
  const auto columns = columns_between(session, {from.x, from.y + px(headline)}, to, {60, 80});
  if (!columns) return;
  Floor floor = floor_of(session, "proved words");
  floor.groups.through = false;
  floor.rows = {{.name = "forms", .kind = FloorRow::Kind::own, .above = 4, .below = below_chart},
                words_row()};
  std::string told;
  floor.rows.front().draw = [&](const FloorColumns& over, const Rectangle& place) {
    told = draw_over_words(
               difference_plot(application, all, word_places(over), below_chart + floor_words_height), place)
               .told;
  };
  floor.rows.front().tip = [&](Index token) {
    return told.empty() ? values_words(computed, all, token) : std::string();
  };
  add_fact_rows(floor, computed, *columns);
  add_error_row(floor, computed, *columns, errors_height);
  float needed = least_chart + floor_captions_height;
  for (const FloorRow& row : floor.rows) needed += row.height;
  if (columns->size.y < px(needed)) floor.rows.resize(2);
  floor.rows.push_back(captions_row());
  show_floor(application, floor, *columns);
}

}  // namespace

void draw_prove_floor(Application& application) {
  draw_floor_panel(application, "##prove floor", 12, 4, RowsAbove::none,
                   [&](ImVec2 from, ImVec2 to) { draw_proved_rows(application, from, to); });
}

}  // namespace palimpsest
