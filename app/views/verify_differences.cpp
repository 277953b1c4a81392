#include "app/views/verify.h"

#include "app/stage/box.h"
#include "app/views/floor.h"
#include "app/views/line_looks.h"
#include "app/words/forms.h"
#include "app/words/stories.h"

// How much forms and arithmetics differ from the recurrence: in all, as a row for each; and at every token,
// as a plot over the text. And a fragile form, which is correct in exact arithmetic.

namespace palimpsest {

namespace {

/// Where a difference of 0 is drawn, below all others; the axis is broken at exact_gap.
constexpr double exact = 1e-17;
constexpr double exact_gap = 1e-16;

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
                    ask(application, key, Urgency::later), allowed});
  }
  key.form = proof_form(application);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16}) {
    if (arithmetic != Arithmetic::f32 && !application.shows_all()) break;  // f32 alone, for comparison
    key.arithmetic = arithmetic;
    rows.push_back(
        {fmt::format("{} {}", name(key.form), name(arithmetic)), ask(application, key, Urgency::later)});
  }
  return rows;
}

Node said(const std::string& words) {
  return scene::text(words, style::Text::body, style::colours().dim).named("said");
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

/// "f16: what is written underflows to 0 at …": how a number was lost in an arithmetic.
std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost) {
  const Computation& computed = *application.session.computed();
  return fmt::format("{}: {} {} at {}; in f64 it is {}", name(seen.lens.arithmetic),
                     lost_tensor_words(computed, seen, lost), in_words(lost.as),
                     counted_token(computed, lost.token), plain_number(lost.expected));
}

/// Everything about a row: what is measured, where it differs most, and which digits are lost and why.
std::string row_words(const Application& application, const AgreementRow& row,
                      const Known<std::vector<DigitsLost>>& digits) {
  constexpr std::size_t most_lost = 4;
  const Computation& computed = *application.session.computed();
  std::string words = row.words;
  const Seen* const seen = fresh(row.seen);
  if (!seen) return words + ": being computed …";
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
  if (row.allowed > 0 && fresh(digits) && !digits.value->empty()) words += "\n" + in_words(*digits.value);
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
    const Seen* const seen = fresh(row.seen);
    if (!seen || seen->errors.empty()) continue;
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
  plot.marks.push_back(upright_mark("tolerance", allowed, {.colour = c.good, .width = 1.5F})
                           .labelled({.words = {"tolerance of f64"}, .colour = c.good}, {0, 0.75F}));
  return plot;
}

constexpr std::size_t most_broken = 4;

void add_formula(Nodes& all, const FragileRun& run) {
  if (!run.change) return;
  const FormulaChange& change = *run.change;
  const LatexStyle look = boxed_style(change, style::colours().strength);
  all += scene::formula(latex(change.is, run.symbols, look), 22);
  if (!change.should_be) return;
  all += scene::caption("on paper equal to");
  all += scene::formula(latex(*change.should_be, run.symbols, look), 16);
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
    all += said(fmt::format("{}[{}, {}] ({}) is {} from {} on", broken.tensor, broken.row, broken.column,
                            broken.title, std::isnan(broken.value) ? "NaN" : "infinite",
                            counted_token(computed, broken.token)));
  }
}

/// A line over the tokens: the difference of something from the recurrence at each.
struct ProofCurve {
  std::string words;
  std::string after = {};  // end of the label; lines that coincide share a label: `words` of each, then this
  std::shared_ptr<const std::vector<double>> errors = {};
  PlotLook look = {};
  bool is_wrong = false;
};

struct ProofLines {
  std::vector<ProofCurve> lines;
  std::vector<std::shared_ptr<const Seen>> seen;  // of arithmetics: the numbers lost there
  int awaited = 0;
};

constexpr int least_reach = 1;     // least power of ten at the top of the chart
constexpr int most_reach = 15;     // and the largest; larger numbers and NaN are drawn at the top
constexpr double point_width = 2;  // least pixels for a point of a line
constexpr float lane = 11;         // between rows of marks, in design pixels
constexpr double together = 2;     // lines coincide if they differ by at most this factor
constexpr Index seldom = 10;       // except at one token of this many

void add_line(ProofLines& all, const Known<Seen>& answer, ProofCurve line, Index tokens) {
  if (!fresh(answer)) {
    if (answer.reason.empty()) ++all.awaited;
    return;
  }
  if (static_cast<Index>(answer.value->errors.size()) != tokens) return;
  line.errors = {answer.value, &answer.value->errors};
  all.lines.push_back(std::move(line));
}

void add_forms(Application& application, ProofLines& all) {
  const Computation& computed = *application.session.computed();
  const VerifyState& verify = application.session.state().verify;
  ProofLine key{.of = without_fault(application.session.computed())};
  for (const Form form : all_forms) {
    if (!computed.trace(form)) continue;
    key.form = form;
    const bool is_reference = form == Form::recurrent && is_cpu(*computed.device);
    const bool has_fault = !verify.fault.id.empty() && verify.fault.form == form;
    add_line(all, ask(application, key, Urgency::later),
             {.words = is_reference ? std::string("recurrent f64: the reference") : name(form),
              .after = is_reference ? ""
                                    : fmt::format(" f64{}{}", on_device(computed.choice),
                                                  has_fault ? ", without the fault" : ""),
              .look = proof_look(form, Arithmetic::f64)},
             computed.sequence.tokens);
  }
}

/// What the lines show; the forms if the user has no choice.
ProofLens shown_lens(const Application& application) {
  return application.shows_all() ? application.session.state().verify.lens : ProofLens::forms;
}

void add_precisions(Application& application, ProofLines& all) {
  const Computation& computed = *application.session.computed();
  ProofLine key{.of = without_fault(application.session.computed())};
  key.form = proof_form(application);
  if (!computed.trace(key.form)) return;
  const bool has_f64 = shown_lens(application) == ProofLens::both;  // among the forms
  for (const Arithmetic arithmetic : all_arithmetics) {
    if (arithmetic == Arithmetic::f64 && has_f64) continue;
    key.arithmetic = arithmetic;
    const Known<Seen> answer = ask(application, key, Urgency::later);
    add_line(all, answer,
             {.words = name(key.form),
              .after = fmt::format(" {}{}", name(arithmetic),
                                   arithmetic == Arithmetic::f64 ? on_device(computed.choice) : ""),
              .look = proof_look(key.form, arithmetic)},
             computed.sequence.tokens);
    if (fresh(answer)) all.seen.push_back(answer.value);
  }
}

bool coincide(const ProofCurve& one, const ProofCurve& other) {
  if (one.is_wrong || other.is_wrong || one.after != other.after) return false;
  Index apart = 0;
  for (std::size_t t = 0; t < one.errors->size(); ++t) {
    const auto [low, high] =
        std::minmax({std::max((*one.errors)[t], exact), std::max((*other.errors)[t], exact)});
    apart += high <= together * low ? 0 : 1;
  }
  return apart * seldom <= std::ssize(*one.errors);
}

/// The lines, with one line "chunkwise, two-pass f64" in place of those that coincide.
std::vector<ProofCurve> joined(const std::vector<ProofCurve>& lines) {
  std::vector<ProofCurve> all;
  for (const ProofCurve& line : lines) {
    const auto same =
        std::ranges::find_if(all, [&](const ProofCurve& other) { return coincide(line, other); });
    if (same == all.end())
      all.push_back(line);
    else
      same->words += ", " + line.words;
  }
  return all;
}

/// The power of ten that all lines stay below; odd, as are all powers on the axis.
int reach_of(const std::vector<ProofCurve>& lines) {
  double most = 0;
  for (const ProofCurve& line : lines) {
    for (const double error : *line.errors) {
      if (std::isfinite(error)) most = std::max(most, error);
    }
  }
  int reach = least_reach;
  while (reach < most_reach && most > std::pow(10.0, reach)) reach += 2;
  return reach;
}

/// " (↑ to 1.2e+35)": the maximum of a line that leaves the chart; empty if it does not.
std::string beyond_words(const std::vector<double>& errors, double largest) {
  if (!std::ranges::all_of(errors, [](double error) { return std::isfinite(error); })) return " (↑ to NaN)";
  const double most = errors.empty() ? 0 : std::ranges::max(errors);
  return most > largest ? fmt::format(" (↑ to {})", plain_number(most)) : std::string();
}

/// The largest error of every stretch of tokens at least point_width wide, drawn in its middle.
void add_points(PlotSeries& series, const std::vector<double>& errors, const WordPlaces& places,
                double largest) {
  for (Index first = places.begin; first < places.end;) {
    Index end = first + 1;
    while (end < places.end && places.left(end + 1) - places.left(first) <= point_width) ++end;
    double worst = 0;
    for (Index t = first; t < end; ++t) {
      const double error = errors.at(static_cast<std::size_t>(t));
      worst = std::max(worst, error < largest ? error : largest);  // NaN becomes `largest`
    }
    series.add((places.left(first) + places.left(end)) / 2, std::max(worst, exact));
    first = end;
  }
}

LostNumber::As mark_of(LostNumber::As as) {
  return as == LostNumber::As::not_a_number ? LostNumber::As::infinite : as;
}

/// The mark of a lost number: down for underflow, up for overflow, a lozenge for cancellation.
PlotLook lost_look(LostNumber::As as) {
  const style::Palette& c = style::colours();
  if (as == LostNumber::As::cancelled) return {.colour = c.dim, .marker = PlotMarker::lozenge, .size = 4};
  return is_zero(as) ? PlotLook{.colour = c.gate, .marker = PlotMarker::down, .size = 3.5F}
                     : PlotLook{.colour = c.alarm, .marker = PlotMarker::up, .size = 3.5F};
}

/// Marks for the first lost number of every kind, at the line of difference 0, a row for each arithmetic.
void add_lost(Plot& plot, const Application& application, const ProofLines& all, const WordPlaces& places) {
  float lower = 7;
  for (const auto& seen : all.seen) {
    for (const LostNumber& lost : seen->lost) {
      if (lost.as == LostNumber::As::made_of_lost || lost.token < places.begin || lost.token >= places.end)
        continue;
      const double x = places.middle(lost.token);
      if (x < 0) continue;  // its token is cut at the left
      const std::string words = lost_words(application, *seen, lost);
      PlotMark* const last = plot.marks.empty() ? nullptr : &plot.marks.back();
      if (last && last->name == "lost" && last->x == x && last->shift.y == -lower) {
        last->tip += "\n" + words;
        continue;
      }
      PlotMark mark = point_mark("lost", x, plot.y.low, lost_look(mark_of(lost.as)));
      mark.shift.y = -lower;
      mark.tip = words;
      plot.marks.push_back(std::move(mark));
    }
    if (!seen->lost.empty()) lower += lane;
  }
}

/// The token of the flag: where the first tensor differs on a device, else the first wrong output under the
/// fault (if none, its first different tensor), else where the wrong line first exceeds `allowed`; -1: none.
Index first_wrong(Application& application, const ProofLines& all, double allowed) {
  if (const auto wrong = ask_device_departure(application, proof_form(application));
      fresh(wrong) && *wrong.value)
    return (*wrong.value)->tensor.departure.token;
  if (const Known<FaultFigures> fault = ask_present_fault(application); fresh(fault)) {
    if (fault.value->first_wrong >= 0) return fault.value->first_wrong;
    if (fault.value->departure) return fault.value->departure->token;
  }
  if (all.lines.empty() || !all.lines.back().is_wrong) return -1;
  const std::vector<double>& errors = *all.lines.back().errors;
  const auto off = std::ranges::find_if(errors, [&](double error) { return !(error <= allowed); });
  return off == errors.end() ? -1 : off - errors.begin();
}

ProofLines proof_lines(Application& application) {
  const style::Palette& c = style::colours();
  const VerifyState& verify = application.session.state().verify;
  const Index tokens = application.session.computed()->sequence.tokens;
  ProofLines all;
  if (!verify.fragile.empty() && verify.fault.id.empty()) {
    const Known<FragileFigures> answer = ask_present_fragile(application);
    if (!fresh(answer)) {
      ++all.awaited;
    } else if (answer.value->run && std::ssize(answer.value->run->errors) == tokens) {
      const FragileRun& run = *answer.value->run;
      const bool holds = answer.value->holds();
      all.lines.push_back({.words = fmt::format("{} f64, the right form", name(answer.value->form)),
                           .errors = {answer.value, &run.right_errors},
                           .look = {.colour = c.text, .width = 1.5F}});
      all.lines.push_back({.words = find_fragile_form(verify.fragile).way.label,
                           .errors = {answer.value, &run.errors},
                           .look = {.colour = holds ? c.strength : c.alarm, .width = 2.5F},
                           .is_wrong = !holds});
    }
    return all;
  }
  const ProofLens lens = shown_lens(application);
  if (lens != ProofLens::precisions) add_forms(application, all);
  if (lens != ProofLens::forms) add_precisions(application, all);
  const Known<FaultFigures> fault = ask_present_fault(application);
  if (fresh(fault) && std::ssize(fault.value->errors) == tokens) {
    all.lines.push_back(
        {.words = fmt::format("{}, {}", name(verify.fault.form), find_fault(verify.fault.id).label),
         .errors = {fault.value, &fault.value->errors},
         .look = {.colour = c.alarm, .width = 2.5F},
         .is_wrong = true});
  } else if (!verify.fault.id.empty() && !fault.value) {
    ++all.awaited;
  }
  return all;
}

/// A plot of the lines over the tokens, with marks of lost numbers and a flag at the first wrong token, whose
/// pole goes on for `below` design pixels.
Plot difference_plot(Application& application, const ProofLines& all, const WordPlaces& places, float below) {
  const style::Palette& c = style::colours();
  const Computation& computed = *application.session.computed();
  const double allowed = tolerance(*computed.variant, computed.sequence.settings, Precision::f64).error;
  const double largest = std::pow(10.0, reach_of(all.lines));
  Plot plot{.name = "difference",
            .x = {.high = places.width, .has_round = false},
            .y = {.scale = PlotAxis::Scale::log10,
                  .low = exact / 2,
                  .high = largest * 2,
                  .named = {{.at = exact, .words = "exact"},
                            {.at = allowed, .words = "tolerance", .colour = c.good}},
                  .gap = exact_gap},
            .is_area = true};
  plot.marks.push_back(level_mark("tolerance", allowed, {.colour = c.good, .width = 1.5F}));
  for (const ProofCurve& line : joined(all.lines)) {
    PlotSeries series{.name = line.words + line.after, .look = line.look};
    series.label.words = {series.name + beyond_words(*line.errors, largest)};
    add_points(series, *line.errors, places, largest);
    plot.series.push_back(std::move(series));
  }
  add_lost(plot, application, all, places);
  const Index flag = first_wrong(application, all, allowed);
  if (flag < 0) return plot;
  const bool is_in_view = flag >= places.begin && flag < places.end;
  const double x = is_in_view ? places.middle(flag) : flag < places.begin ? -1 : places.width + 1;
  plot.marks.push_back({.kind = PlotMark::Kind::flag,
                        .name = "first wrong token",
                        .x = x,
                        .look = {.colour = c.alarm},
                        .label = {.words = {"first difference: " + counted_token(computed, flag)}},
                        .shift = {0, below}});
  return plot;
}

constexpr float headline_height = 30;
constexpr float errors_height = 50;
constexpr float least_chart = 120;
constexpr float below_chart = 8;

Node marks_legend(const ProofLines& all) {
  Nodes marks;
  for (const LostNumber::As as :
       {LostNumber::As::underflow, LostNumber::As::cancelled, LostNumber::As::infinite}) {
    const bool occurs = std::ranges::any_of(all.seen, [&](const auto& seen) {
      return std::ranges::any_of(seen->lost, [&](const LostNumber& lost) { return mark_of(lost.as) == as; });
    });
    if (!occurs) continue;
    marks += scene::row(
        {{Mark{.kind = Mark::Kind::point, .look = lost_look(as)}}, scene::caption(in_words(as))}, Gap::tight);
  }
  if (marks.empty()) return scene::column({});
  return scene::row(std::move(marks), Gap::wide)
      .named("lost")
      .told(
          "Marks above the tokens, one row for each precision: the first number of each kind that is lost. "
          "Underflow: below the smallest number, about 10⁻⁴⁵ in f32, 10⁻⁴¹ in tf32, 10⁻⁴⁰ in bf16, "
          "6 × 10⁻⁸ in f16. Cancellation: a sum of rounded numbers is exactly 0. Point at a mark to see "
          "which number.");
}

Node headline_of(Application& application, const ProofLines& all) {
  const std::string words = all.awaited > 0
                                ? fmt::format("{} more being computed …", all.awaited)
                                : std::string("of each token's output, as a share of the largest output");
  Nodes row = {scene::text("Difference from the recurrence", style::Text::strong, 0, Fit::whole),
               scene::note(words).filling()};
  if (application.session.state().verify.fragile.empty()) {
    row += marks_legend(all);
    if (application.shows_all())
      row += field_choice(application.session, &SessionState::verify, &VerifyState::lens,
                          named_values<ProofLens>());
  }
  return scene::row(std::move(row), Gap::wide).named("headline");
}

}  // namespace

std::string array_words(const std::string& array) {
  if (array == "o") return "the outputs";
  if (array == "final_state" || array == "final_S") return "the memory";
  constexpr std::string_view final = "final_";
  return array.starts_with(final) ? "the memory's " + array.substr(final.size()) : array;
}

std::string agreement_verdict(Application& application) {
  const Computation& computed = *application.session.computed();
  if (overflows(computed)) return "The text overflows: nothing can be compared.";
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
  const Known<std::vector<DigitsLost>> digits =
      ask(application, DigitsHere{without_fault(application.session.computed())}, Urgency::later);
  return scene::plotted(agreement_plot(application, rows_of(application), digits));
}

Node fragile_form(Application& application) {
  const VerifyState& verify = application.session.state().verify;
  const FragileForm& fragile = find_fragile_form(verify.fragile);
  const Known<FragileFigures> answer = ask_present_fragile(application);
  const bool is_known = fresh(answer);
  Nodes left = {scene::line(fragile.way.label, style::Text::title), scene::paragraph(fragile.way.sentence)};
  if (is_known && answer.value->run) add_formula(left, *answer.value->run);
  Nodes right = {field_choice(application.session, &SessionState::verify, &VerifyState::breaks,
                              {{"data that break it", true}, {"data that do not", false}})};
  if (!is_known) {
    right += awaiting("computing it", answer, application, about_fragile(application));
  } else if (!answer.value->run) {
    right += said(answer.value->reason);
  } else {
    const FragileFigures& figures = *answer.value;
    right += said(outcome(fragile, figures));
    right += scene::caption(fmt::format(
        "{}, {} form in chunks of {}{}{}", figures.variant->label, name(figures.form), figures.chunk_size,
        figures.data_words.empty() ? "; the data as they are" : "; ", figures.data_words));
    add_broken(right, application, *figures.run);
    right += scene::caption("It fails when");
    right += scene::paragraph(fragile.fails_when);
  }
  const auto scrolled = [](const char* name, Nodes nodes) {
    return scene::scroll(name, scene::column(std::move(nodes), Gap::near));
  };
  return scene::top_row({scrolled("formula", std::move(left)).filling(0.56F),
                         scrolled("outcome", std::move(right)).filling(0.44F)},
                        Gap::far);
}

void draw_verify_floor(Application& application) {
  const FloorPanel panel = {.name = "verified text", .top = 12, .head = headline_height};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    const Computation& computed = *application.session.computed();
    ProofLines all = proof_lines(application);
    // While other data are opened, a line may belong to another text.
    std::erase_if(all.lines,
                  [&](const ProofCurve& line) { return line.errors->size() != computed.tokens.size(); });
    scene::show_at(headline_of(application, all), places.head);
    floor.groups.through = false;
    floor.rows = {{.name = "forms", .kind = FloorRow::Kind::own, .above = 4, .below = below_chart},
                  words_row()};
    floor.rows.front().label = {.lines = {{.words = "difference", .colour = style::colours().dim}},
                                .left = true};
    std::string told;
    floor.rows.front().draw = [&](const FloorColumns& over, const Rectangle& place) {
      told =
          draw_over_words(
              difference_plot(application, all, word_places(over), below_chart + floor_words_height), place)
              .told;
    };
    floor.rows.front().tip = [&](Index token) {
      if (!told.empty()) return std::string();
      std::string words = counted_token(computed, token);
      for (const ProofCurve& line : all.lines)
        words += fmt::format("\n{}{}: {}", line.words, line.after, plain_number(entry(*line.errors, token)));
      return words;
    };
    add_fact_rows(floor, computed, places.columns);
    add_error_row(floor, computed, places.columns, errors_height);
    float needed = least_chart + floor_captions_height;
    for (const FloorRow& row : floor.rows) needed += row.height;
    if (places.columns.size.y < style::scale() * needed) floor.rows.resize(2);
    floor.rows.push_back(captions_row());
    show_floor(application, floor, places.columns);
  });
}

}  // namespace palimpsest
