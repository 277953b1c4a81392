#include "app/views/verify.h"

namespace palimpsest {

namespace {

struct ListRow {
  std::string label = {};
  std::string number = {};
  std::string sentence = {};  // below it while it is chosen
  bool is_chosen = false;
  bool is_dim = false;
  scene::Ink colour = 0;         // of a chosen row
  scene::Ink number_colour = 0;  // 0: that of the label
};

/// A row that can be pressed: a dot, its label, a number. A chosen row has a frame and its sentence.
Node list_row(const ListRow& row, std::function<void()> press) {
  const style::Palette& c = style::colours();
  const scene::Ink words = row.is_chosen ? c.text : row.is_dim ? c.faint : c.dim;
  const scene::Ink number = row.is_chosen ? row.colour : row.number_colour != 0 ? row.number_colour : words;
  const auto label = [&](style::Text letters, Fit fit) {
    return scene::text(row.label, letters, words, fit);
  };
  Node line = scene::top_row(
      {scene::mark(row.is_chosen ? Mark::Kind::dot : Mark::Kind::ring, row.is_chosen ? row.colour : words),
       (row.is_chosen ? scene::first_that_fits(
                            {label(style::Text::strong, Fit::whole), label(style::Text::caption, Fit::wrap)})
                      : label(style::Text::caption, Fit::wrap))
           .filling(),
       scene::number(row.number, number)},
      Gap::small);
  Nodes all = {std::move(line)};
  if (row.is_chosen) all.push_back(scene::caption(row.sentence));
  return scene::framed(scene::column(std::move(all), Gap::tight), Gap::tight, Gap::hair,
                       row.is_chosen ? row.colour : 0)
      .named(row.label)
      .told(row.is_chosen ? std::string() : row.sentence)
      .revealed_for(row.is_chosen ? row.label + row.sentence : std::string())
      .on(std::move(press));
}

struct Listed {
  const Fault* fault;
  Known<FaultFigures> figures;

  const FaultFigures* known() const { return figures.stale ? nullptr : figures.value.get(); }
  bool lacks() const { return known() && !known()->without.empty(); }
  bool is_noticed() const { return known() && !lacks() && known()->noticed(); }
};

/// How much each array differs; the badge shows the largest.
std::string by_array(const FaultFigures& figures) {
  if (figures.errors.empty()) return {};
  const double outputs = std::ranges::max(figures.errors);
  const Disagreement& worst = figures.judgement.disagreement;
  if (!figures.noticed()) return " It is not detected on this text.";
  std::string words = fmt::format(" Outputs differ by {}", plain_number(outputs));
  if (worst.array != "o")
    words += fmt::format(", {} at the end by {}", array_words(worst.array), plain_number(worst.error));
  return words + " of the largest number.";
}

/// In longer texts a fault takes seconds: each is tried when it is chosen, unless the user asks for all.
constexpr Index most_tokens_tried = 1024;

/// Whether all faults are tried; if not, adds a link to do so.
bool tries_all(Nodes& all, Session& session) {
  const Index tokens = session.computed()->sequence.tokens;
  if (tokens <= most_tokens_tried || session.state().verify.tries_all) return true;
  all.push_back(
      scene::caption(
          fmt::format(
              "None is tried yet: with {} tokens each takes a while. A click on a fault tries it alone.",
              tokens))
          .named("untried"));
  all.push_back(
      scene::link("try all")
          .told("Injects every fault in turn and measures how much the outputs differ.")
          .on([&session] { session.change([](SessionState& state) { state.verify.tries_all = true; }); }));
  return false;
}

/// The faults that apply to the form, then those that do not.
void add_faults(Nodes& all, Application& application) {
  const style::Palette& c = style::colours();
  const Form form = proof_form(application);
  const std::string chosen = application.session.state().verify.fault.id;
  const bool tries = tries_all(all, application.session);
  std::vector<Listed> listed;
  // The newest request is answered first.
  for (const Fault& fault : faults() | std::views::reverse) {
    const FaultHere key{.of = without_fault(application.session.computed()), .form = form, .fault = fault.id};
    listed.push_back({&fault, {}});
    if (tries || fault.id == chosen)
      listed.back().figures = application.session.questions().ask(key, Urgency::later);
  }
  std::ranges::reverse(listed);
  const auto known = std::ranges::count_if(listed, &Listed::known);
  const auto noticed = std::ranges::count_if(listed, &Listed::is_noticed);
  const auto impossible = std::ranges::stable_partition(listed, std::not_fn(&Listed::lacks));
  const std::span possible(listed.begin(), impossible.begin());
  for (const Listed& each : possible) {
    const bool is_chosen = each.fault->id == chosen;
    const bool is_unnoticed = each.known() && !each.known()->noticed();
    const ListRow row{.label = each.fault->label,
                      .number = each.known()                   ? size_words(*each.known())
                                : !each.figures.reason.empty() ? "?"
                                : each.figures.under_way       ? "…"
                                                               : "",
                      .sentence = each.fault->sentence + (each.known() ? by_array(*each.known()) : ""),
                      .is_chosen = is_chosen,
                      .colour = c.alarm,
                      .number_colour = is_unnoticed ? c.dim : 0};
    all.push_back(list_row(row, [&application, next = is_chosen ? std::string() : each.fault->id] {
      inject(application, next);
    }));
  }
  if (tries) {
    all.push_back(scene::space(Gap::small));
    all.push_back(scene::caption(
        known < std::ssize(faults())
            ? fmt::format("{} of {} tried", known, faults().size())
            : fmt::format(
                  "{} to this form; {} detected on this text.",
                  possible.size() == 1 ? "1 fault applies" : fmt::format("{} faults apply", possible.size()),
                  noticed == std::ssize(possible)
                      ? fmt::format("all {} are", noticed)
                      : fmt::format("{} {}", noticed, noticed == 1 ? "is" : "are"))));
  }
  if (impossible.empty()) return;
  all.push_back(scene::space(Gap::small));
  all.push_back(scene::caption(
      fmt::format("{} not apply to this form.", counted(std::ssize(impossible), "fault does", "faults do"))));
  for (const Listed& each : impossible) {
    const bool is_chosen = each.fault->id == chosen;
    const ListRow row{.label = each.fault->label,
                      .sentence = each.figures.value->without + ". " + each.fault->sentence,
                      .is_chosen = is_chosen,
                      .is_dim = true,
                      .colour = c.alarm};
    const std::string refusal = fmt::format("“{}” cannot be injected into the {} form here: {}",
                                            each.fault->label, name(form), each.figures.value->without);
    all.push_back(list_row(row, [&application, is_chosen, refusal] {
      if (is_chosen)
        inject(application, "");
      else
        application.refusal = refusal;
    }));
  }
}

Node fragile_list(Application& application) {
  Session& session = application.session;
  Nodes all = {scene::caption("Right on paper, not in numbers")};
  for (const FragileForm& fragile : fragile_forms()) {
    const bool is_chosen = session.state().verify.fragile == fragile.way.id;
    all.push_back(list_row({.label = fragile.way.label,
                            .sentence = fragile.way.sentence,
                            .is_chosen = is_chosen,
                            .colour = style::colours().strength},
                           [&session, next = is_chosen ? std::string() : fragile.way.id] {
                             session.change([&](SessionState& state) {
                               state.verify.fragile = next;
                               state.verify.fault.id.clear();
                             });
                           }));
  }
  return scene::column(std::move(all), Gap::none).named("fragile");
}

}  // namespace

void draw_verify_faults(Application& application) {
  scene::show_panel("##inject a fault", true, [&] {
    if (!application.session.computed()) return scene::column({});
    Node title = scene::row({scene::heading("Inject a fault"), scene::rest(), scene::caption("difference")});
    Nodes faults = {beside_segments(std::move(title))};
    add_faults(faults, application);
    return scene::column(
               {scene::column(std::move(faults), Gap::none).named("faults"), fragile_list(application)},
               Gap::near)
        .named("side");
  });
}

}  // namespace palimpsest
