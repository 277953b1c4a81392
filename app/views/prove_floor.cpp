#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "app/gl/context_local.h"
#include "app/views/device_departure.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "app/views/transport.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/segments.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float headline = 30;
constexpr float errors_height = 50;
constexpr float least_chart = 120;
constexpr double exact = 1e-17;   // where an error of 0 is drawn, below all others
constexpr int least_reach = 1;    // powers of ten: how high the chart goes at least,
constexpr int most_reach = 15;    // and at most; what is larger, or no number, lies at its upper side
constexpr float least_rows = 20;  // between two numbers beside it

/// What a line over the words shows.
struct FloorLine {
  std::string words;
  std::shared_ptr<const void> owner;  // of what follows
  const std::vector<double>* errors = nullptr;
  ImU32 colour = 0;
  float width = 1.5F;
  float dash = 0;  // 0: drawn through
  bool is_wrong = false;
};

ImU32 colour_of(Form form) {
  const style::Palette& c = style::colours();
  switch (form) {
    case Form::recurrent:
      return c.text;
    case Form::chunkwise:
      return c.gate;
    case Form::two_pass:
      return c.query;
    case Form::parallel:
      return c.strength;
  }
  return c.text;
}

/// The coarser an arithmetic, the shorter; 0: drawn through.
float dash_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::f64:
      return 0;
    case Arithmetic::f32:
      return 8;
    case Arithmetic::tf32:
      return 6;
    case Arithmetic::bf16:
      return 4;
    case Arithmetic::f16:
      break;
  }
  return 2;
}

/// The lines that are wanted and there by now, and those that are still computed.
struct FloorLines {
  std::vector<FloorLine> lines;
  std::vector<std::shared_ptr<const Seen>> seen;  // through an arithmetic: what is lost there
  int awaited = 0;
  std::string told;  // of the mark under the pointer
};

void add_line(FloorLines& all, const Known<Seen>& answer, FloorLine line, Index tokens) {
  if (!answer.value || answer.stale) {
    if (answer.reason.empty()) ++all.awaited;
    return;
  }
  if (static_cast<Index>(answer.value->errors.size()) != tokens) return;
  line.owner = answer.value;
  line.errors = &answer.value->errors;
  all.lines.push_back(std::move(line));
}

void add_forms(Application& application, FloorLines& all) {
  const Computation& computed = *application.session.computed();
  const ProveState& prove = application.session.state().prove;
  auto key = about_proof<ProofLine>(application);
  for (const Form form : all_forms) {
    if (!computed.trace(form)) continue;
    key.form = form;
    const bool is_reference = form == Form::recurrent && is_cpu(*computed.device);
    const bool has_fault = !prove.fault.id.empty() && prove.fault.form == form;
    add_line(all, application.session.questions().ask(key, Urgency::later),
             {.words = is_reference ? std::string("recurrent f64: what all are measured against")
                                    : fmt::format("{} f64{}{}", name(form), on_device(computed.choice),
                                                  has_fault ? ", without the fault" : ""),
              .owner = nullptr,
              .colour = colour_of(form)},
             computed.sequence.tokens);
  }
}

void add_precisions(Application& application, FloorLines& all) {
  const style::Palette& c = style::colours();
  const Computation& computed = *application.session.computed();
  auto key = about_proof<ProofLine>(application);
  key.form = proof_form(application);
  if (!computed.trace(key.form)) return;
  const bool has_f64 = application.session.state().prove.lens == ProofLens::both;  // among the forms
  for (const Arithmetic arithmetic : all_arithmetics) {
    if (arithmetic == Arithmetic::f64 && has_f64) continue;
    key.arithmetic = arithmetic;
    const Known<Seen> answer = application.session.questions().ask(key, Urgency::later);
    add_line(all, answer,
             {.words = fmt::format("{} {}{}", name(key.form), name(arithmetic),
                                   arithmetic == Arithmetic::f64 ? on_device(computed.choice) : ""),
              .owner = nullptr,
              .colour = arithmetic == Arithmetic::f64 ? colour_of(key.form) : c.dim,
              .dash = dash_of(arithmetic)},
             computed.sequence.tokens);
    if (answer.value && !answer.stale) all.seen.push_back(answer.value);
  }
}

FloorLines floor_lines(Application& application) {
  const style::Palette& c = style::colours();
  const ProveState& prove = application.session.state().prove;
  const Index tokens = application.session.computed()->sequence.tokens;
  FloorLines all;
  if (!prove.fragile.empty() && prove.fault.id.empty()) {
    const Known<FragileFigures> answer = ask_present_fragile(application);
    if (!answer.value || answer.stale) {
      ++all.awaited;
    } else if (answer.value->run && std::ssize(answer.value->run->errors) == tokens) {
      const FragileRun& run = *answer.value->run;
      const bool holds = answer.value->holds();
      all.lines.push_back({.words = fmt::format("{} f64, as it should be", name(answer.value->form)),
                           .owner = answer.value,
                           .errors = &run.right_errors,
                           .colour = c.text});
      all.lines.push_back({.words = find_fragile_form(prove.fragile).way.label,
                           .owner = answer.value,
                           .errors = &run.errors,
                           .colour = holds ? c.strength : c.alarm,
                           .width = 2.5F,
                           .is_wrong = !holds});
    }
    return all;
  }
  if (prove.lens != ProofLens::precisions) add_forms(application, all);
  if (prove.lens != ProofLens::forms) add_precisions(application, all);
  const Known<FaultFigures> fault = ask_present_fault(application);
  if (fault.value && !fault.stale && std::ssize(fault.value->errors) == tokens) {
    all.lines.push_back(
        {.words = fmt::format("{}, {}", name(prove.fault.form), find_fault(prove.fault.id).label),
         .owner = fault.value,
         .errors = &fault.value->errors,
         .colour = c.alarm,
         .width = 2.5F,
         .is_wrong = true});
  } else if (!prove.fault.id.empty() && !fault.value) {
    ++all.awaited;
  }
  return all;
}

/// The power of ten, an odd one as all beside the chart, that all lines stay below.
int reach_of(const std::vector<FloorLine>& lines) {
  double most = 0;
  for (const FloorLine& line : lines) {
    for (const double error : *line.errors) {
      if (std::isfinite(error)) most = std::max(most, error);
    }
  }
  int reach = least_reach;
  while (reach < most_reach && most > std::pow(10.0, reach)) reach += 2;
  return reach;
}

/// " (↑ to 1.2e+35)": how far a line goes beyond the chart; empty where it does not.
std::string beyond_words(const std::vector<double>& errors, double largest) {
  double most = 0;
  for (const double error : errors) {
    if (!std::isfinite(error)) return " (↑ to no number)";
    most = std::max(most, error);
  }
  return most > largest ? fmt::format(" (↑ to {})", scientific(most)) : std::string();
}

double shown_error(double error, double largest) {
  if (!(error < largest)) return largest;  // what is no number too
  return std::max(error, exact);
}

/// Points of a line, one for every visible column of at least two pixels.
std::vector<ImVec2> points_of(const Chart& chart, const FloorColumns& columns,
                              const std::vector<double>& errors, double largest) {
  std::vector<ImVec2> points;
  const float step = std::max(px(1.5F), 2.0F);
  for (Index first = columns.begin(); first < columns.end();) {
    Index end = first + 1;
    while (end < columns.end() && columns.left(end + 1) - columns.left(first) <= step) ++end;
    double worst = 0;
    for (Index t = first; t < end; ++t) {
      const double error = errors.at(static_cast<std::size_t>(t));
      worst = std::max(worst, std::isnan(error) ? largest : error);
    }
    const float x = (columns.left(first) + columns.left(end)) / 2;
    points.push_back({x, chart.y(shown_error(worst, largest))});
    first = end;
  }
  return points;
}

/// A line through points, in dashes of a length along it.
void draw_points(ImDrawList* list, const std::vector<ImVec2>& points, const FloorLine& line) {
  const float width = std::max(px(line.width), 1.0F);
  if (line.dash <= 0) {
    list->AddPolyline(points.data(), static_cast<int>(points.size()), line.colour, width, ImDrawFlags_None);
    return;
  }
  const float dash = px(line.dash);
  float gone = 0;
  bool draws = true;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    ImVec2 from = points[i];
    const ImVec2 to = points[i + 1];
    float left = std::hypot(to.x - from.x, to.y - from.y);
    while (left > 0.01F) {
      const float piece = std::min(dash - gone, left);
      const ImVec2 end = {from.x + (to.x - from.x) * piece / left, from.y + (to.y - from.y) * piece / left};
      if (draws) list->AddLine(from, end, line.colour, width);
      from = end;
      left -= piece;
      gone += piece;
      if (gone < dash - 0.01F) continue;
      gone = 0;
      draws = !draws;
    }
  }
}

/// How high a line lies between two places.
std::pair<float, float> heights_between(const std::vector<ImVec2>& points, float from, float to) {
  std::pair<float, float> heights = {1e9F, -1e9F};
  for (const ImVec2& point : points) {
    if (point.x < from || point.x > to) continue;
    heights = {std::min(heights.first, point.y), std::max(heights.second, point.y)};
  }
  return heights;
}

/// Writes what line `index` is beside it, where no other label is and no other line is nearer: from the
/// right, above it or below.
void draw_label(const Chart& chart, const std::vector<std::vector<ImVec2>>& all, std::size_t index,
                const FloorLine& line, std::vector<Rectangle>& taken) {
  const std::vector<ImVec2>& points = all[index];
  if (points.empty()) return;
  const style::TextStyle text(style::Text::caption);
  const ImVec2 size = text_extent(line.words);
  const float step = std::max((chart.to.x - chart.from.x) / 24, px(24));
  const auto away = [&](const std::vector<ImVec2>& of, float from, float to, float y) {
    const auto [high, low] = heights_between(of, from - step, to + step);
    return high > low ? 1e9F : std::max({high - y, y - low, 0.0F});
  };
  const auto is_nearest = [&](float from, float to, float y) {
    const float own = away(points, from, to, y);
    return std::ranges::none_of(
        all, [&](const auto& other) { return &other != &points && away(other, from, to, y) < own; });
  };
  const float last = std::min(chart.to.x - px(8), std::max(points.back().x, chart.from.x + size.x + px(12)));
  for (const bool touches : {false, true}) {
    for (const float rows : {0.0F, 1.0F, 2.0F}) {
      for (float right = last; right - size.x > chart.from.x + px(8); right -= step) {
        const auto [high, low] = heights_between(points, right - size.x - step, right + step);
        if (high > low) continue;
        const float beside = rows * (size.y + px(2));
        for (const float y : {high - size.y - px(3) - beside, low + px(3) + beside}) {
          const bool is_inside = y >= chart.from.y && y + size.y <= chart.to.y + px(4);
          if (!is_inside && !touches) continue;
          const float top = std::clamp(y, chart.from.y, chart.to.y + px(4) - size.y);
          if (!touches && !is_nearest(right - size.x, right, top + size.y / 2)) continue;
          const Rectangle place = {{right - size.x - px(3), top}, {right + px(3), top + size.y}};
          if (std::ranges::any_of(taken, [&](const Rectangle& other) { return overlap(place, other); }))
            continue;
          taken.push_back(place);
          ImGui::GetWindowDrawList()->AddRectFilled(place.minimum, place.maximum,
                                                    style::with_alpha(style::colours().panel, 0.86F), px(2));
          draw_text({place.minimum.x + px(3), place.minimum.y}, line.colour, line.words);
          prove_map().lines.push_back({line.words, place});
          return;
        }
      }
    }
  }
}

void draw_axis(const Chart& chart, int reach, float gutter, double allowed) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const style::TextStyle text(style::Text::number_small);
  const float line = text_extent("x").y;
  const float tolerance_y = chart.y(allowed);
  const float exact_y = chart.y(exact);
  int every = 2;
  while (chart.y(1) - chart.y(std::pow(10.0, every)) < px(least_rows)) every *= 2;
  for (int power = reach; power >= -15; power -= every) {
    const float y = chart.y(std::pow(10.0, power));
    list->AddLine({chart.from.x, y}, {chart.to.x, y}, style::with_alpha(c.edge, 0.7F));
    if (std::abs(y - tolerance_y) < line || std::abs(y - exact_y) < line) continue;
    const std::string number = fmt::format("1e{:+03d}", power);
    draw_text({chart.from.x - px(10) - text_extent(number).x, y - line / 2}, c.dim, number);
  }
  list->AddLine({chart.from.x, exact_y}, {chart.to.x, exact_y}, c.edge);
  draw_text({chart.from.x - px(10) - text_extent("exact").x, exact_y - line / 2}, c.dim, "exact");
  list->AddLine({chart.from.x, tolerance_y}, {chart.to.x, tolerance_y}, c.good, px(1.5F));
  const style::TextStyle caption(style::Text::caption);
  draw_text({gutter, tolerance_y - text_extent("x").y / 2}, c.good, "tolerance");
}

/// The first wrong word: a line down to its word, and a flag with it; at the edge behind which it stands
/// where it is not in view.
void draw_flag(const Computation& computed, const Chart& chart, const FloorColumns& columns, Index token,
               float bottom, std::vector<Rectangle>& taken) {
  const style::Palette& c = style::colours();
  prove_map().flag = token;
  const bool is_before = token < columns.begin();
  const bool is_after = token >= columns.end();
  const bool is_in_view = !is_before && !is_after;
  const float x = is_before  ? chart.from.x
                  : is_after ? chart.to.x
                             : (columns.left(token) + columns.left(token + 1)) / 2;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (is_in_view) list->AddLine({x, chart.from.y}, {x, bottom}, c.alarm, px(1));
  const style::TextStyle text(style::Text::caption);
  const std::string words = fmt::format("{}first wrong word: “{}”, token {}{}", is_before ? "← " : "",
                                        visible_label(computed.data->labels[static_cast<std::size_t>(token)]),
                                        token, is_after ? " →" : "");
  prove_map().flag_words = words;
  const ImVec2 size = text_extent(words);
  const float width = size.x + px(22);
  const bool to_left = x + width > chart.to.x;
  const float from = to_left ? x - width : x;
  const ImVec2 minimum = {from, chart.from.y};
  const ImVec2 maximum = {from + width, chart.from.y + size.y + px(6)};
  const float notch = px(8);
  const ImVec2 flag[] = {
      minimum, {maximum.x, minimum.y}, {maximum.x - (to_left ? 0 : notch), (minimum.y + maximum.y) / 2},
      maximum, {minimum.x, maximum.y}, {minimum.x + (to_left ? notch : 0), (minimum.y + maximum.y) / 2}};
  list->AddConcavePolyFilled(flag, 6, c.alarm);
  draw_text({from + px(to_left ? 14 : 6), minimum.y + px(3)}, style::legible_on(style::bytes(c.alarm)),
            words);
  taken.push_back({minimum, maximum});
}

/// What the marks tell apart. A 0 that is made of lost numbers has no mark of its own.
constexpr LostNumber::As marked[] = {LostNumber::As::underflow, LostNumber::As::cancelled,
                                     LostNumber::As::infinite};

LostNumber::As mark_of(LostNumber::As as) {
  return as == LostNumber::As::not_a_number ? LostNumber::As::infinite : as;
}

/// Where a number is lost: down where it underflows, up where it overflows, a lozenge where its digits
/// cancel.
void draw_mark(ImVec2 middle, LostNumber::As as) {
  const style::Palette& c = style::colours();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float half = px(4);
  if (as == LostNumber::As::cancelled) {
    list->AddQuad({middle.x - half, middle.y}, {middle.x, middle.y - half}, {middle.x + half, middle.y},
                  {middle.x, middle.y + half}, c.dim, px(1.5F));
    return;
  }
  const bool is_down = is_zero(as);
  const float tip = is_down ? px(5) : -px(5);
  list->AddTriangleFilled({middle.x - half, middle.y - tip / 2}, {middle.x + half, middle.y - tip / 2},
                          {middle.x, middle.y + tip / 2}, is_down ? c.gate : c.alarm);
}

/// Where a number is lost in a precision: the first of every kind, on the exact line.
struct LostMark {
  const Seen* seen = nullptr;
  const LostNumber* lost = nullptr;
  ImVec2 middle = {};
};

std::vector<LostMark> lost_marks(const FloorLines& all, const Chart& chart, const FloorColumns& columns) {
  std::vector<LostMark> marks;
  float lane = 0;
  for (const auto& seen : all.seen) {
    if (seen->lost.empty()) continue;
    const float y = chart.to.y - px(7) - lane;
    lane += px(11);
    for (const LostNumber& lost : seen->lost) {
      if (lost.as == LostNumber::As::made_of_lost) continue;
      if (lost.token < columns.begin() || lost.token >= columns.end()) continue;
      const float x = (columns.left(lost.token) + columns.left(lost.token + 1)) / 2;
      if (x >= chart.from.x) marks.push_back({seen.get(), &lost, {x, y}});  // else of a word that is cut
    }
  }
  return marks;
}

/// Returns what the one under the pointer is.
std::string draw_marks(Application& application, const std::vector<LostMark>& marks) {
  std::string told;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const LostMark& mark : marks) {
    draw_mark(mark.middle, mark_of(mark.lost->as));
    if (std::abs(mouse.x - mark.middle.x) < px(6) && std::abs(mouse.y - mark.middle.y) < px(6))
      told += (told.empty() ? "" : "\n") + lost_words(application, *mark.seen, *mark.lost);
  }
  return told;
}

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
float draw_marks_legend(const FloorLines& all, float right, float y) {
  const style::Palette& c = style::colours();
  const auto has = [&](LostNumber::As as) {
    return std::ranges::any_of(all.seen, [&](const auto& seen) {
      return std::ranges::any_of(seen->lost, [&](const LostNumber& lost) { return mark_of(lost.as) == as; });
    });
  };
  const style::TextStyle text(style::Text::caption);
  const float height = text_extent("x").y;
  const float end = right;
  for (const LostNumber::As as : marked | std::views::reverse) {
    if (!has(as)) continue;
    const char* const words = in_words(as);
    prove_map().marks_legend += words;
    right -= text_extent(words).x;
    draw_text({right, y}, c.dim, words);
    right -= px(12);
    draw_mark({right + px(4), y + height / 2}, as);
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

void draw_headline(Application& application, const FloorLines& all, ImVec2 from, float right) {
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
std::string values_words(const Computation& computed, const FloorLines& all, Index token) {
  std::string words = numbered_word(computed, token);
  for (const FloorLine& line : all.lines)
    words += fmt::format("\n{}: {}", line.words, scientific((*line.errors)[static_cast<std::size_t>(token)]));
  return words;
}

/// The token at the flag: the first that is wrong; -1 where none is.
Index flagged_token(Application& application, const FloorLines& all, double allowed) {
  Index flag = -1;
  if (const Known<FaultFigures> fault = ask_present_fault(application);
      fault.value && !fault.stale && fault.value->departure)
    flag = fault.value->departure->token;
  if (const auto wrong = ask_device_departure(application, proof_form(application));
      wrong.value && !wrong.stale && *wrong.value)
    flag = (*wrong.value)->tensor.departure.token;
  if (all.lines.empty() || !all.lines.back().is_wrong || flag >= 0) return flag;
  const std::vector<double>& errors = *all.lines.back().errors;
  const auto off = std::ranges::find_if(errors, [&](double error) { return !(error <= allowed); });
  return off == errors.end() ? -1 : off - errors.begin();
}

/// The lines over the words, in `place`; the flag goes down to `words_bottom`.
void draw_chart(Application& application, FloorLines& all, const FloorColumns& columns,
                const Rectangle& place, float words_bottom) {
  const Computation& computed = *application.session.computed();
  const int reach = reach_of(all.lines);
  const double largest = std::pow(10.0, reach);
  const Chart chart{.from = place.minimum,
                    .to = place.maximum,
                    .bottom = exact / 2,
                    .top = largest * 2,
                    .logarithmic = true};
  prove_map().chart = place;
  prove_map().highest = chart.to.y;
  const Form form = proof_form(application);
  const double allowed = tolerance(*computed.variant, computed.sequence.settings, form, Precision::f64).error;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRectFullScreen();  // rows are clipped to the words
  draw_axis(chart, reach, columns.position.x - px(floor_gutter - style::panel_padding), allowed);
  list->PopClipRect();
  std::vector<Rectangle> taken;
  const Index flag = flagged_token(application, all, allowed);
  if (flag >= 0) draw_flag(computed, chart, columns, flag, words_bottom, taken);
  const std::vector<LostMark> marks = lost_marks(all, chart, columns);
  for (const LostMark& mark : marks) {
    taken.push_back(
        {{mark.middle.x - px(4), mark.middle.y - px(3)}, {mark.middle.x + px(4), mark.middle.y + px(3)}});
    prove_map().marks.push_back(taken.back());
  }
  std::vector<std::vector<ImVec2>> points;
  list->PushClipRect(chart.from, {chart.to.x, chart.to.y + px(4)}, true);
  for (FloorLine& line : all.lines) {
    line.words += beyond_words(*line.errors, largest);
    points.push_back(points_of(chart, columns, *line.errors, largest));
    for (const ImVec2& point : points.back()) prove_map().highest = std::min(prove_map().highest, point.y);
    draw_points(list, points.back(), line);
  }
  for (std::size_t i = all.lines.size(); i-- > 0;) draw_label(chart, points, i, all.lines[i], taken);
  list->PopClipRect();
  // Over the lines, which keep clear of it only with their labels.
  if (flag >= 0) draw_flag(computed, chart, columns, flag, words_bottom, taken);
  all.told = draw_marks(application, marks);
}

void draw_proved_rows(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const Computation& computed = *session.computed();
  FloorLines all = floor_lines(application);
  // While other data come, what is shown may be of other words than the lines.
  std::erase_if(all.lines,
                [&](const FloorLine& line) { return line.errors->size() != computed.tokens.size(); });
  draw_headline(application, all, from, to.x);
  const auto columns = columns_between(session, {from.x, from.y + px(headline)}, to, {60, 80});
  if (!columns) return;
  Floor floor = floor_of(session, "proved words");
  floor.groups.through = false;
  floor.rows = {{.name = "forms", .kind = FloorRow::Kind::own, .above = 4, .below = 8}, words_row()};
  floor.rows.front().draw = [&](const FloorColumns& over, const Rectangle& place) {
    draw_chart(application, all, over, place, place.maximum.y + px(8 + floor_words_height));
  };
  floor.rows.front().tip = [&](Index token) {
    return all.told.empty() ? values_words(computed, all, token) : all.told;
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
