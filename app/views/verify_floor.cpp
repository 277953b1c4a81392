#include "app/views/floor.h"
#include "app/views/line_looks.h"
#include "app/views/verify.h"
#include "app/words/forms.h"

// The difference of forms and arithmetics from the recurrence at every token, as a plot over the tokens.

namespace palimpsest {

namespace {

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
  if (!answer.value || answer.stale) {
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
    add_line(all, application.session.questions().ask(key, Urgency::later),
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
    const Known<Seen> answer = application.session.questions().ask(key, Urgency::later);
    add_line(all, answer,
             {.words = name(key.form),
              .after = fmt::format(" {}{}", name(arithmetic),
                                   arithmetic == Arithmetic::f64 ? on_device(computed.choice) : ""),
              .look = proof_look(key.form, arithmetic)},
             computed.sequence.tokens);
    if (answer.value && !answer.stale) all.seen.push_back(answer.value);
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
    series.x.push_back((places.left(first) + places.left(end)) / 2);
    series.y.push_back(std::max(worst, exact));
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
      wrong.value && !wrong.stale && *wrong.value)
    return (*wrong.value)->tensor.departure.token;
  if (const Known<FaultFigures> fault = ask_present_fault(application); fault.value && !fault.stale) {
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
    if (!answer.value || answer.stale) {
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
  if (fault.value && !fault.stale && std::ssize(fault.value->errors) == tokens) {
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
    marks.push_back(
        scene::row({{Mark{.kind = Mark::Kind::point, .look = lost_look(as)}}, scene::caption(in_words(as))},
                   Gap::tight));
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

Node lens_choice(Session& session) {
  std::vector<std::string> words;
  for (const ProofLens lens : all_of<ProofLens>) words.emplace_back(name(lens));
  return scene::segments(
      words, static_cast<std::size_t>(session.state().verify.lens), [&session](std::size_t chosen) {
        session.change([chosen](SessionState& state) { state.verify.lens = all_of<ProofLens>[chosen]; });
      });
}

Node headline_of(Application& application, const ProofLines& all) {
  const std::string words = all.awaited > 0
                                ? fmt::format("{} more being computed …", all.awaited)
                                : std::string("of each token's output, as a share of the largest output");
  Nodes row = {scene::text("Difference from the recurrence", style::Text::strong, 0, Fit::whole),
               scene::note(words).filling()};
  if (application.session.state().verify.fragile.empty()) {
    row.push_back(marks_legend(all));
    if (application.shows_all()) row.push_back(lens_choice(application.session));
  }
  return scene::row(std::move(row), Gap::wide).named("headline");
}

}  // namespace

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
