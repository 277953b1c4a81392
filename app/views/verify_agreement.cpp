#include "app/stage/box.h"
#include "app/views/verify.h"
#include "app/words/forms.h"
#include "app/words/stories.h"

// The centre while no fault is injected: how much every form and precision differs from the reference; and a
// fragile form, which is correct in exact arithmetic.

namespace palimpsest {

namespace {

struct AgreementRow {
  std::string words;
  Known<Seen> seen;
  double allowed = 0;  // the tolerance; 0: none
};

std::vector<AgreementRow> rows_of(Application& application) {
  const Computation& computed = *application.session.computed();
  std::vector<AgreementRow> rows;
  ProofLine key{.of = without_fault(application.session.computed())};
  for (const Form form : forms_of(computed)) {
    key.form = form;
    key.arithmetic = Arithmetic::f64;
    const double allowed = tolerance(*computed.variant, computed.sequence.settings, Precision::f64).error;
    rows.push_back({fmt::format("{} f64{}", name(form), on_device(computed.choice)),
                    application.session.questions().ask(key, Urgency::later), allowed});
  }
  key.form = proof_form(application);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16}) {
    if (arithmetic != Arithmetic::f32 && !application.shows_all()) break;  // f32 alone, for comparison
    key.arithmetic = arithmetic;
    rows.push_back({fmt::format("{} {}", name(key.form), name(arithmetic)),
                    application.session.questions().ask(key, Urgency::later)});
  }
  return rows;
}

Node said(const std::string& words) {
  return scene::text(words, style::Text::body, style::colours().dim).named("said");
}

/// Everything about a row: what is measured, where it differs most, and which digits are lost and why.
std::string row_words(const Application& application, const AgreementRow& row,
                      const Known<std::vector<DigitsLost>>& digits) {
  constexpr std::size_t most_lost = 4;
  const Computation& computed = *application.session.computed();
  std::string words = row.words;
  const Seen* const seen = row.seen.value.get();
  if (!seen || row.seen.stale) return words + ": being computed …";
  if (!seen->message.empty()) return words + "\n" + seen->message;
  const Disagreement& worst = seen->worst;
  const Index token = std::ranges::max_element(seen->errors) - seen->errors.begin();
  words += worst.error == 0
               ? std::string("\nNo difference at any token.")
               : fmt::format("\nLargest difference {}, {}.", plain_number(worst.error),
                             worst.array == "o" ? "at " + counted_token(computed, token)
                                                : fmt::format("in {} at the end", array_words(worst.array)));
  if (row.allowed > 0) words += fmt::format(" The tolerance is {}.", plain_number(row.allowed));
  words += "\nA point is a token: max |o − o′| / max |o′|, with o′ of the f64 recurrence.";
  for (std::size_t i = 0; i < std::min(seen->lost.size(), most_lost); ++i)
    words += "\n" + lost_words(application, *seen, seen->lost[i]);
  if (seen->lost.size() > most_lost) words += fmt::format("\nand {} more", seen->lost.size() - most_lost);
  if (row.allowed > 0 && digits.value && !digits.stale && !digits.value->empty())
    words += "\n" + in_words(*digits.value);
  return words;
}

constexpr double most_shown = 10;

/// The differences of a row, ascending, one for all that would overlap; the largest is that of all arrays.
/// Kept while the row is the same.
const std::vector<double>& shown_points(const AgreementRow& row) {
  struct Kept {
    std::weak_ptr<const Seen> of;
    std::vector<double> points;
  };
  Kept& kept = context_local<std::map<std::string, Kept>>()[row.words];
  if (kept.of.lock() == row.seen.value) return kept.points;
  constexpr double per_decade = 20;
  std::map<double, double> by_place;
  const auto add = [&](double error) {
    const double shown = error < most_shown ? std::max(error, exact) : most_shown;  // NaN becomes most_shown
    double& there = by_place[std::floor(per_decade * std::log10(shown))];
    there = std::max(there, shown);
  };
  std::ranges::for_each(row.seen.value->errors, add);
  add(row.seen.value->worst.error);
  kept = {row.seen.value, {}};
  for (const auto& [place, error] : by_place) kept.points.push_back(error);
  return kept.points;
}

/// The differences of every form and arithmetic from the reference: a row each, a point for a token.
Plot agreement_plot(const Application& application, const std::vector<AgreementRow>& rows,
                    const Known<std::vector<DigitsLost>>& digits) {
  const style::Palette& c = style::colours();
  const auto count = static_cast<double>(rows.size());
  Plot plot{.name = "agreement",
            .x = {.title = {"largest difference at a token, as a share of the largest output"},
                  .scale = PlotAxis::Scale::log10,
                  .low = exact / 2,
                  .high = 2 * most_shown,
                  .named = {{.at = exact, .words = "exact"}},
                  .gap = exact_gap},
            .y = {.low = -0.6, .high = count - 0.4, .has_round = false},
            .labels = Plot::Labels::beside,
            .explores = true};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AgreementRow& row = rows[i];
    const double y = count - 1 - static_cast<double>(i);
    plot.y.named.push_back({.at = y, .words = row.words, .colour = row.allowed > 0 ? c.text : c.dim});
    plot.marks.push_back({.kind = PlotMark::Kind::area,
                          .name = "row/" + row.words,
                          .y = y - 0.5,
                          .to_y = y + 0.5,
                          .look = {.colour = c.edge},
                          .fill = i % 2 == 0 ? 0.25F : 0,
                          .tip = row_words(application, row, digits)});
    const Seen* const seen = row.seen.value.get();
    if (!seen || row.seen.stale || seen->errors.empty()) continue;
    const double worst = seen->worst.error;
    const ImU32 ink = row.allowed == 0 ? c.dim : worst <= row.allowed ? c.good : c.alarm;
    PlotSeries points{.name = row.words,
                      .x = shown_points(row),
                      .look = {.colour = ink, .width = 0, .marker = PlotMarker::circle, .size = 2},
                      .label = {.words = {plain_number(worst)}, .colour = ink}};
    points.y.assign(points.x.size(), y);
    plot.marks.push_back(
        point_mark("", points.x.back(), y, {.colour = ink, .marker = PlotMarker::circle, .size = 4}));
    plot.series.push_back(std::move(points));
  }
  const double allowed = rows.empty() ? 0 : rows.front().allowed;
  if (allowed <= 0) return plot;
  PlotMark line = upright_mark("tolerance", allowed, {.colour = c.good, .width = 1.5F});
  line.label = {.words = {"tolerance of f64"}, .colour = c.good};
  line.wish = {0, 0.75F};
  plot.marks.push_back(std::move(line));
  return plot;
}

/// A readable name of the tensor of a lost number: "the memory after", "the gate alpha as it comes in".
std::string lost_tensor_words(const Computation& computed, const Seen& seen, const LostNumber& lost) {
  if (!lost.title.empty()) {
    const std::string title = with_small_letter(lost.title);
    return lost.is_gate ? fmt::format("the gate ({})", title) : title;
  }
  if (lost.is_gate) return fmt::format("the gate {} of the input", lost.tensor);
  const auto& trace = computed.trace(seen.lens.form);
  const std::string words = trace ? symbol_in(trace->symbols, lost.tensor).words : std::string();
  return (words.empty() ? lost.tensor : with_small_letter(words)) + " of the input";
}

constexpr std::size_t most_broken = 4;

void add_formula(Nodes& all, const FragileRun& run) {
  if (!run.change) return;
  const FormulaChange& change = *run.change;
  const LatexStyle look = boxed_style(change, style::colours().strength);
  all.push_back(scene::formula(latex(change.is, run.symbols, look), 22));
  if (!change.should_be) return;
  all.push_back(scene::caption("on paper equal to"));
  all.push_back(scene::formula(latex(*change.should_be, run.symbols, look), 16));
}

std::string outcome(const FragileForm& fragile, const FragileFigures& figures) {
  const FragileRun& run = *figures.run;
  const std::string errors = fmt::format("differs from the recurrence by {}, the right form by {}.",
                                         plain_number(run.worst.error), plain_number(run.right_worst.error));
  if (figures.holds()) return "Here it holds: it " + errors;
  return fragile.always_wrong ? "It " + errors + " It holds on no data." : "Here it breaks: it " + errors;
}

void add_broken(Nodes& all, const Application& application, const FragileRun& run) {
  const Computation& computed = *application.session.computed();
  for (const NotFiniteNumber& broken : run.broken | std::views::take(most_broken)) {
    all.push_back(said(fmt::format("{}[{}, {}] ({}) is {} from {} on", broken.tensor, broken.row,
                                   broken.column, broken.title, std::isnan(broken.value) ? "NaN" : "infinite",
                                   counted_token(computed, broken.token))));
  }
}

}  // namespace

std::string array_words(const std::string& array) {
  if (array == "o") return "the outputs";
  if (array == "final_state" || array == "final_S") return "the memory";
  constexpr std::string_view final = "final_";
  return array.starts_with(final) ? "the memory's " + array.substr(final.size()) : array;
}

std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost) {
  const Computation& computed = *application.session.computed();
  return fmt::format("{}: {} {} at {}; in f64 it is {}", name(seen.lens.arithmetic),
                     lost_tensor_words(computed, seen, lost), in_words(lost.as),
                     counted_token(computed, lost.token), plain_number(lost.expected));
}

std::string no_difference_words(double allowed, double largest) {
  return fmt::format("In f64 no difference exceeds {} on this input (largest {}).", plain_number(allowed),
                     plain_number(largest));
}

std::string agreement_verdict(Application& application) {
  const Computation& computed = *application.session.computed();
  double worst = 0;
  double allowed = 0;
  for (const AgreementRow& row : rows_of(application)) {
    if (row.allowed == 0) continue;
    if (!row.seen.value || row.seen.under_way) return "The forms are being computed and compared …";
    if (!row.seen.value->message.empty()) continue;
    worst = std::max(worst, row.seen.value->worst.error);
    allowed = std::max(allowed, row.allowed);
  }
  if (worst <= allowed)
    return application.tells_story() ? agreement_headline(std::ssize(forms_of(computed)), worst)
                                     : no_difference_words(allowed, worst);
  if (!is_cpu(*computed.device))
    return fmt::format("{} and the CPU differ by {}; the tolerance is {}.", computed.choice.device,
                       plain_number(worst), plain_number(allowed));
  return fmt::format(
      "The forms differ by {}; {} is usual. This input amplifies rounding; no equation is wrong.",
      plain_number(worst), plain_number(allowed));
}

Node agreement_chart(Application& application) {
  const Known<std::vector<DigitsLost>> digits = application.session.questions().ask(
      DigitsHere{without_fault(application.session.computed())}, Urgency::later);
  return scene::plotted(agreement_plot(application, rows_of(application), digits));
}

Node fragile_form(Application& application) {
  const VerifyState& verify = application.session.state().verify;
  const FragileForm& fragile = find_fragile_form(verify.fragile);
  const Known<FragileFigures> answer = ask_present_fragile(application);
  const bool is_known = answer.value && !answer.stale;
  Nodes left = {scene::line(fragile.way.label, style::Text::title), scene::paragraph(fragile.way.sentence)};
  if (is_known && answer.value->run) add_formula(left, *answer.value->run);
  Nodes right = {scene::segments({"data that break it", "data that do not"}, verify.breaks ? 0 : 1,
                                 [&session = application.session](std::size_t chosen) {
                                   session.change(
                                       [chosen](SessionState& state) { state.verify.breaks = chosen == 0; });
                                 })};
  if (!is_known) {
    right.push_back(
        awaiting("computing it", answer, application.session.questions(), about_fragile(application)));
  } else if (!answer.value->run) {
    right.push_back(said(answer.value->reason));
  } else {
    const FragileFigures& figures = *answer.value;
    right.push_back(said(outcome(fragile, figures)));
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
  return scene::top_row({scrolled("formula", std::move(left)).filling(0.56F),
                         scrolled("outcome", std::move(right)).filling(0.44F)},
                        Gap::far);
}

}  // namespace palimpsest
