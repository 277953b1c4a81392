#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/views/awaited.h"
#include "app/views/prove.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/segments.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float formula_size = 22;
constexpr std::size_t most_broken = 4;

void say(const std::string& words) {
  prove_map().said.push_back(words);
  style::paragraph(words);
}

void draw_data_choice(Application& application) {
  ProveState prove = application.session.state().prove;
  const bool before = prove.breaks;
  if (style::segment_button("data that break it", prove.breaks, {.first = true})) prove.breaks = true;
  ImGui::SameLine(0, 0);
  if (style::segment_button("data that do not", !prove.breaks, {.last = true})) prove.breaks = false;
  if (prove.breaks != before) application.session.change_prove(prove);
}

void draw_formula_of(const FragileRun& run) {
  if (!run.change) return;
  const style::Palette& c = style::colours();
  const FormulaChange& change = *run.change;
  const LatexStyle look{.colour = [](Role role, bool) { return style::hex(style::colours().role(role)); },
                        .lit = {},
                        .numbers = nullptr,
                        .boxed = changed_piece,
                        .box_colour = style::hex(c.strength),
                        .boxes_sign = change.is_sign};
  const float width = ImGui::GetContentRegionAvail().x;
  const auto fitted = [&](const std::string& latex, float wanted) {
    const float natural = measure_formula(latex, px(wanted)).width;
    formula(latex, natural > width ? px(wanted) * width / natural : px(wanted), c.text);
  };
  fitted(latex(change.is, run.symbols, look), formula_size);
  if (!change.should_be) return;
  style::caption("the same on paper as");
  fitted(latex(*change.should_be, run.symbols, look), 16);
}

std::string outcome(const FragileForm& fragile, const FragileFigures& figures) {
  const FragileRun& run = *figures.run;
  if (figures.holds())
    return fmt::format("Here it holds: it is {} from the recurrence, the right form {}.",
                       scientific(run.worst.error), scientific(run.right_worst.error));
  if (fragile.always_wrong)
    return fmt::format(
        "It is {} from the recurrence, the right form {}. There are no data on which it holds.",
        scientific(run.worst.error), scientific(run.right_worst.error));
  return fmt::format("Here it breaks: it is {} from the recurrence, the right form, on the same numbers, {}.",
                     scientific(run.worst.error), scientific(run.right_worst.error));
}

void draw_broken(const Application& application, const FragileRun& run) {
  const Computation& computed = *application.session.computed();
  std::size_t said = 0;
  for (const NotFiniteNumber& broken : run.broken) {
    if (said++ >= most_broken) break;
    say(fmt::format("{}[{}, {}] ({}) is {} from {} on", broken.tensor, broken.row, broken.column,
                    broken.title, std::isnan(broken.value) ? "no number" : "infinite",
                    numbered_word(computed, broken.token)));
  }
}

}  // namespace

void draw_fragile_form(Application& application) {
  const FragileForm& fragile = find_fragile_form(application.session.state().prove.fragile);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const Known<FragileFigures> answer = ask_present_fragile(application);
  const bool is_known = answer.value && !answer.stale;
  const float left = std::floor(room.x * 0.56F);
  ImGui::BeginChild("fragile formula", {left, room.y});
  {
    const style::TextStyle text(style::Text::title);
    ImGui::TextUnformatted(fragile.way.label.c_str());
  }
  style::paragraph(fragile.way.sentence);
  if (is_known && answer.value->run) draw_formula_of(*answer.value->run);
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({from.x + left + px(24), from.y});
  ImGui::BeginChild("fragile outcome", {room.x - left - px(24), room.y});
  draw_data_choice(application);
  ImGui::Dummy({0, px(4)});
  if (!is_known) {
    awaited("carrying it out", answer);
  } else if (!answer.value->run) {
    say(answer.value->reason);
  } else {
    const FragileFigures& figures = *answer.value;
    say(outcome(fragile, figures));
    const style::TextStyle text(style::Text::caption);
    style::caption(fmt::format(
        "{}, {} form in chunks of {}{}{}", figures.variant->label, name(figures.form), figures.chunk_size,
        figures.data_words.empty() ? "; the data as they are" : "; ", figures.data_words));
    draw_broken(application, *figures.run);
    style::caption("It fails when");
    style::paragraph(fragile.fails_when);
  }
  ImGui::EndChild();
}

}  // namespace palimpsest
