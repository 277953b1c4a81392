#include <fmt/format.h>

#include <algorithm>

#include "app/scene/draw.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/views/prove.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float headline_height = 30;
constexpr float errors_height = 50;
constexpr float least_chart = 120;
constexpr float below_chart = 8;

/// What the marks of lost numbers mean, as far as there are such.
scene::Node marks_legend(const ProofLines& all) {
  scene::Nodes marks;
  for (const LostNumber::As as : lost_kinds(all))
    marks.push_back(scene::row({{scene::Mark{.kind = scene::Mark::Kind::point, .look = lost_look(as)}},
                                scene::caption(in_words(as))},
                               scene::Gap::tight));
  if (marks.empty()) return scene::column({});
  return scene::row(std::move(marks), scene::Gap::wide)
      .named("lost")
      .told(
          "Marks above the words: the first number of each kind that a coarser arithmetic loses on its way, "
          "one "
          "row of marks for each arithmetic. A number underflows where it is smaller than any that the "
          "arithmetic "
          "holds: f32, tf32 and bf16 hold them down to about 1e-38, f16 to 6e-8. It cancels where of rounded "
          "numbers "
          "that are added and taken away nothing is left. Rest on a mark to see which.");
}

scene::Node lens_choice(Application& application) {
  std::vector<std::string> words;
  for (const ProofLens lens : all_proof_lenses) words.emplace_back(name(lens));
  const ProofLens present = application.session.state().prove.lens;
  const auto chosen = std::ranges::find(all_proof_lenses, present) - std::begin(all_proof_lenses);
  return scene::segments(words, static_cast<std::size_t>(chosen), [&application](std::size_t pressed) {
    ProveState prove = application.session.state().prove;
    prove.lens = all_proof_lenses[pressed];
    application.session.change_prove(prove);
  });
}

scene::Node headline_of(Application& application, const ProofLines& all) {
  const std::string words =
      all.awaited > 0 ? fmt::format("{} more being computed …", all.awaited)
                      : std::string("largest difference at a word, as a share of the largest output");
  scene::Nodes row = {
      scene::text("How far from the recurrence, word by word", style::Text::strong, 0, scene::Fit::whole),
      scene::line(words, style::Text::caption, scene::dim_ink).filling()};
  if (application.session.state().prove.fragile.empty()) {
    row.push_back(marks_legend(all));
    row.push_back(lens_choice(application));
  }
  return scene::row(std::move(row), scene::Gap::wide).named("headline");
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
  scene::show_at(headline_of(application, all), {from, {to.x, from.y + style::px(headline_height)}});
  const auto columns = columns_between(session, {from.x, from.y + style::px(headline_height)}, to, {60, 80});
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
  if (columns->size.y < style::px(needed)) floor.rows.resize(2);
  floor.rows.push_back(captions_row());
  show_floor(application, floor, *columns);
}

}  // namespace

void draw_prove_floor(Application& application) {
  draw_floor_panel(application, "##prove floor", 12, 4, RowsAbove::none,
                   [&](ImVec2 from, ImVec2 to) { draw_proved_rows(application, from, to); });
}

}  // namespace palimpsest
