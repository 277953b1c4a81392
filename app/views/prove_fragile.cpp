#include <fmt/format.h>

#include <algorithm>

#include "app/views/awaited.h"
#include "app/views/prove.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using scene::Gap;
using scene::Node;
using scene::Nodes;

constexpr std::size_t most_broken = 4;

Node sentence(const std::string& words) { return scene::paragraph(words).named("said"); }

Node data_choice(Application& application) {
  return scene::segments({"data that break it", "data that do not"},
                         application.session.state().prove.breaks ? 0 : 1,
                         [&application](std::size_t chosen) {
                           ProveState prove = application.session.state().prove;
                           prove.breaks = chosen == 0;
                           application.session.change_prove(prove);
                         });
}

void add_formula(Nodes& all, const FragileRun& run) {
  if (!run.change) return;
  const FormulaChange& change = *run.change;
  const LatexStyle look{.colour = [](Role role, bool) { return style::hex(style::colours().role(role)); },
                        .lit = {},
                        .numbers = nullptr,
                        .boxed = changed_piece,
                        .box_colour = style::hex(style::colours().strength),
                        .boxes_sign = change.is_sign};
  all.push_back(scene::formula(latex(change.is, run.symbols, look), 22));
  if (!change.should_be) return;
  all.push_back(scene::caption("the same on paper as"));
  all.push_back(scene::formula(latex(*change.should_be, run.symbols, look), 16));
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

void add_broken(Nodes& all, const Application& application, const FragileRun& run) {
  const Computation& computed = *application.session.computed();
  std::size_t count = 0;
  for (const NotFiniteNumber& broken : run.broken) {
    if (count++ >= most_broken) break;
    all.push_back(sentence(fmt::format(
        "{}[{}, {}] ({}) is {} from {} on", broken.tensor, broken.row, broken.column, broken.title,
        std::isnan(broken.value) ? "no number" : "infinite", numbered_word(computed, broken.token))));
  }
}

}  // namespace

scene::Node fragile_form(Application& application) {
  const ProveState& prove = application.session.state().prove;
  const FragileForm& fragile = find_fragile_form(prove.fragile);
  const Known<FragileFigures> answer = ask_present_fragile(application);
  const bool is_known = answer.value && !answer.stale;
  Nodes left = {scene::line(fragile.way.label, style::Text::title), scene::paragraph(fragile.way.sentence)};
  if (is_known && answer.value->run) add_formula(left, *answer.value->run);
  Nodes right = {data_choice(application)};
  if (!is_known) {
    right.push_back(awaiting("carrying it out", answer, [&application] {
      auto key = about_proof<FragileHere>(application);
      key.fragile = application.session.state().prove.fragile;
      key.breaks = application.session.state().prove.breaks;
      application.session.questions().give_up(key);
    }));
  } else if (!answer.value->run) {
    right.push_back(sentence(answer.value->reason));
  } else {
    const FragileFigures& figures = *answer.value;
    right.push_back(sentence(outcome(fragile, figures)));
    right.push_back(scene::caption(fmt::format(
        "{}, {} form in chunks of {}{}{}", figures.variant->label, name(figures.form), figures.chunk_size,
        figures.data_words.empty() ? "; the data as they are" : "; ", figures.data_words)));
    add_broken(right, application, *figures.run);
    right.push_back(scene::caption("It fails when"));
    right.push_back(scene::paragraph(fragile.fails_when));
  }
  const auto scrolled = [](const char* name, Nodes nodes) {
    return scene::scroll(name, scene::column(std::move(nodes), Gap::near));
  };
  return {scene::Row{.nodes = {scrolled("formula", std::move(left)).filling(0.56F),
                               scrolled("outcome", std::move(right)).filling(0.44F)},
                     .gap = Gap::far,
                     .on_top = true}};
}

}  // namespace palimpsest
