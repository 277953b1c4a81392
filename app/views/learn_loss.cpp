#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "app/gl/context_local.h"
#include "app/session/edits.h"
#include "app/views/learn.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/label_place.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float numbers_width = 50;  // left of the axis
constexpr float below_axis = 42;     // its numbers and words,
constexpr float axis_line = 16;      // and a second line of them
constexpr float dot_size = 6.5F;
constexpr float near = 50;               // words to their point
constexpr double least_strength = 1e-4;  // of the axis: with none at all there would be no loss to see

/// What lasts while the dot is dragged.
struct DraggedDot {
  bool active = false;
  double right = 0;   // the end of the axis when the drag began
  double wanted = 0;  // where it is dragged to
  double set = 0;     // and what the strength was set to last
};

std::string strength_symbol(const std::string& array) {
  static constexpr std::pair<std::string_view, const char*> symbols[] = {
      {"beta", "\\beta"}, {"theta", "\\theta"}, {"eta", "\\eta"}, {"delta", "\\Delta"}};
  for (const auto& [name, latex] : symbols) {
    if (name == array) return latex;
  }
  return "\\beta";
}

double per_rate(const LearningMoment& moment) { return moment.strength ? moment.strength->per_rate : 1; }

/// The numbers at the sides of the chart, which has so many lines below it: all of a bowl that has a floor,
/// and what the step comes to.
Chart chart_of(const LearningMoment& moment, const LearnRoom& room, std::size_t lines_below) {
  const float below = below_axis + axis_line * static_cast<float>(lines_below - 1);
  Chart chart{.from = {room.from.x + px(numbers_width), room.from.y},
              .to = {room.to.x, room.to.y - px(below)}};
  chart.right = moment.rates.back() * per_rate(moment);
  const LearningStep& step = moment.step;
  const auto [least, most] = std::ranges::minmax(moment.losses);
  const bool is_bowl = moment.edge * per_rate(moment) <= chart.right;
  // A loss without its constant may lie below 0.
  chart.bottom = is_bowl ? std::min(std::max(least, 0.0) == least ? 0.0 : least, step.loss_after) : least;
  chart.top = is_bowl ? std::max(step.along.value + 0.4 * (step.along.value - chart.bottom),
                                 step.loss_after + 0.1 * (step.loss_after - chart.bottom))
                      : std::max(most, step.loss_after);
  if (!is_bowl) {
    const double margin = 0.12 * (chart.top - least);
    chart.bottom = least - margin;
    chart.top += margin;
  }
  if (is_flat(chart.bottom, chart.top)) {  // no scale but that of the loss itself
    const double loss = 1.4 * step.along.value;
    chart.bottom = std::min(0.0, loss);
    chart.top = std::max(0.0, loss);
  }
  if (is_flat(chart.bottom, chart.top)) {
    chart.bottom = 0;
    chart.top = 1;
  }
  return chart;
}

void draw_axes(const Chart& chart, double edge) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const style::TextStyle text(style::Text::number_small);
  const float height = text_extent("0").y;
  const auto rows = round_numbers(chart.bottom, chart.top, chart.to.y - chart.from.y > px(220) ? 7 : 4);
  const double row_distance = rows.size() > 1 ? rows[1] - rows[0] : 1;
  for (const double value : rows) {
    const float y = std::round(chart.y(value));
    if (y < chart.from.y + height / 2 || y > chart.to.y + 1) continue;
    list->AddLine({chart.from.x, y}, {chart.to.x, y}, style::mix(c.panel, c.edge, 0.6F), px(style::line));
    learn_text_right({chart.from.x - px(10), y - height / 2}, c.dim, axis_number(value, row_distance));
  }
  const auto columns = round_numbers(chart.left, chart.right, 6);
  const double distance = columns.size() > 1 ? columns[1] - columns[0] : 1;
  const float edge_width = text_extent("0.000").x;
  for (const double value : columns) {
    const std::string number = axis_number(value, distance);
    const float x = chart.x(value);
    const float half = text_extent(number).x / 2;
    const bool is_hidden = std::isfinite(edge) && std::abs(x - chart.x(edge)) < half + edge_width;
    if (is_hidden || x + half > chart.to.x + px(8)) continue;
    list->AddLine({x, chart.to.y}, {x, chart.to.y + px(4)}, c.faint, px(style::line));
    learn_text({x - half, chart.to.y + px(6)}, c.dim, number);
  }
}

Rectangle around(ImVec2 point) {
  const float half = px(dot_size + 2);
  return {{point.x - half, point.y - half}, {point.x + half, point.y + half}};
}

/// The points of a curve on the screen, as far as they are finite and in sight.
std::vector<ImVec2> line_of(const Chart& chart, std::span<const double> xs, std::span<const double> ys) {
  std::vector<ImVec2> line;
  for (std::size_t i = 0; i < std::min(xs.size(), ys.size()); ++i) {
    if (std::isfinite(xs[i]) && std::isfinite(ys[i])) line.push_back({chart.x(xs[i]), chart.y(ys[i])});
  }
  return line;
}

/// Where words may stand in the chart: below the name of the band.
Rectangle words_room(const Chart& chart) {
  return {{chart.from.x + px(4), chart.from.y + px(24)}, {chart.to.x - px(4), chart.to.y - px(4)}};
}

/// At `offset` from a point, or to its other side where the chart ends.
ImVec2 beside(const Chart& chart, ImVec2 point, ImVec2 offset, ImVec2 extent) {
  const bool fits = point.x + offset.x + extent.x <= chart.to.x - px(4);
  return {fits ? point.x + offset.x : point.x - offset.x - extent.x, point.y + offset.y};
}

/// The band in which a step comes closer, and what lies beyond.
void draw_band(const Chart& chart, double edge) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float x = std::clamp(chart.x(edge), chart.from.x, chart.to.x);
  list->AddRectFilled(chart.from, {x, chart.to.y}, style::mix(c.panel, c.good, 0.09F));
  if (edge > chart.right) return;
  list->AddRectFilled({x, chart.from.y}, chart.to, style::mix(c.panel, c.alarm, 0.06F));
  hatch(list, {x, chart.from.y}, chart.to, style::mix(c.panel, c.alarm, 0.3F));
}

/// The name of the band, above the curves.
void name_band(const Chart& chart, Taken& taken, double edge, bool always_lower) {
  const style::Palette& c = style::colours();
  const float x = std::clamp(chart.x(edge), chart.from.x, chart.to.x);
  const style::TextStyle text(style::Text::caption);
  const std::string closer = edge <= chart.right   ? "steps that come closer"
                             : std::isfinite(edge) ? fmt::format("steps come closer up to {:.3g}", edge)
                             : always_lower        ? "farther is always lower: this loss has no floor"
                                                   : "no step here lands higher than it began";
  const ImVec2 extent = text_extent(closer);
  if (x - chart.from.x <= extent.x + px(90)) return;
  const Rectangle room = {{chart.from.x + px(8), chart.from.y + px(6)},
                          {x - px(8), chart.from.y + px(8) + extent.y}};
  const ImVec2 at = free_place(room, taken, {x - px(8) - extent.x, chart.from.y + px(6)}, extent).at;
  taken.boxes.push_back({at, {at.x + extent.x, at.y + extent.y}});
  ImGui::GetWindowDrawList()->AddRectFilled({at.x - px(3), at.y - px(1)},
                                            {at.x + extent.x + px(3), at.y + extent.y + px(1)},
                                            style::mix(c.panel, c.good, 0.09F), px(3));
  learn_text(at, c.good, closer);
}

/// What lies beyond the edge, and the edge; where the same step is made again and again (`repeats`, without
/// momentum, of a parabola) it diverges there.
void draw_edge(const Chart& chart, Taken& taken, double edge, bool repeats) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float x = std::clamp(chart.x(edge), chart.from.x, chart.to.x);
  const style::TextStyle text(style::Text::caption);
  const float height = text_extent("x").y;
  if (edge > chart.right) return;
  list->AddRectFilled({x - px(1), chart.from.y}, {x + px(1), chart.to.y}, c.alarm);
  taken.lines.push_back({{x, chart.from.y}, {x, chart.to.y}});
  const std::string beyond = repeats ? "diverges" : "overshoots";
  const float room = chart.to.x - x;
  if (room > text_extent(beyond).x + px(16)) {
    const ImVec2 at = {chart.to.x - px(8) - text_extent(beyond).x, chart.to.y - height - px(6)};
    list->AddRectFilled({at.x - px(4), at.y - px(1)}, {chart.to.x - px(4), chart.to.y - px(4)}, c.panel,
                        px(3));
    learn_text(at, c.alarm, beyond);
    taken.boxes.push_back({at, {chart.to.x - px(8), chart.to.y - px(6)}});
  }
  const style::TextStyle number(style::Text::number_small);
  const double distance = (chart.right - chart.left) / 100;
  const std::string words = axis_number(edge, std::pow(10, std::floor(std::log10(distance))));
  learn_text({x - text_extent(words).x / 2, chart.to.y + px(6)}, c.alarm, words);
}

/// What the largest stable rate belongs to: the step along this axis, or one that is made of more.
const char* stability_words(const LearningMoment& moment) {
  if (!moment.step.problem.moving.empty()) return "red: one step by itself; with momentum stable below";
  const bool is_this_step = std::abs(moment.step.stability->largest_rate / moment.edge - 1) < 1e-6;
  return is_this_step ? "stable below 2 / |k|² =" : "the rule's own step is stable below";
}

/// What the axis is, below its numbers: one line where it fits into `width`, else two.
std::vector<std::string> axis_words(const LearningMoment& moment, float width) {
  const style::TextStyle text(style::Text::caption);
  const double unit = per_rate(moment);
  const std::string axis = "step size along the gradient";
  const std::string drag = moment.strength ? "drag the dot" : "this step has no number to drag";
  const bool is_parabola = moment.edge == moment.parabola_edge;
  std::string stable;
  if (!is_parabola && std::isfinite(moment.parabola_edge))
    stable =
        fmt::format("dashed: the parabola at this point, stable below {:.3g}", moment.parabola_edge * unit);
  else if (moment.step.stability && std::isfinite(moment.step.stability->largest_rate) && moment.outer)
    stable = fmt::format("{} {:.3g}", stability_words(moment), moment.step.stability->largest_rate * unit);
  const std::string gap = "   ";
  if (stable.empty()) return {axis + gap + drag};
  const std::string all = axis + gap + stable + gap + drag;
  if (text_extent(all).x <= width) return {all};
  return {axis + gap + drag, stable};
}

void draw_axis_words(const std::vector<std::string>& lines, const Chart& chart) {
  const style::TextStyle text(style::Text::caption);
  float y = chart.to.y + px(24);
  for (const std::string& line : lines) {
    const std::string words = shortened(line, chart.to.x - chart.from.x);
    learn_text({(chart.from.x + chart.to.x - text_extent(words).x) / 2, y}, style::colours().dim, words);
    y += px(axis_line);
  }
}

/// Words beside a point, inside the chart, on panel in case a curve must cross them: the first of `choices`
/// that has a free place near, else the one that has the nearest.
void draw_tag(const Chart& chart, Taken& taken, ImVec2 point, ImVec2 offset, const std::string& symbol,
              std::initializer_list<std::string> choices, ImU32 colour) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  const float symbol_width = symbol.empty() ? 0 : measure_formula(symbol, px(15)).width + px(4);
  const auto extent_of = [&](const std::string& each) {
    return ImVec2{text_extent(each).x + symbol_width, text_extent(each).y};
  };
  std::string words;
  LabelPlace found;
  for (const std::string& choice : choices) {
    const ImVec2 size = extent_of(choice);
    const LabelPlace place = free_place(words_room(chart), taken, beside(chart, point, offset, size), size);
    const bool is_better = !found.is_free || (place.is_free && place.away < found.away);
    if (words.empty() || is_better) {
      words = choice;
      found = place;
    }
    if (found.is_free && found.away <= px(near)) break;
  }
  const ImVec2 at = found.at;
  const ImVec2 extent = extent_of(words);
  taken.boxes.push_back({at, {at.x + extent.x, at.y + extent.y}});
  learn_map().tags.push_back(taken.boxes.back());
  learn_map().tags_on_curves += static_cast<int>(std::ranges::count_if(
      taken.lines, [&](const auto& line) { return crosses(line, taken.boxes.back()); }));
  ImGui::GetWindowDrawList()->AddRectFilled({at.x - px(3), at.y - px(1)},
                                            {at.x + extent.x + px(3), at.y + extent.y + px(1)},
                                            style::with_alpha(c.panel, 0.8F), px(3));
  if (!symbol.empty())
    learn_formula({at.x, at.y + ImGui::GetFontBaked()->Ascent}, symbol, px(15), c.strength);
  learn_text({at.x + symbol_width, at.y}, colour, words);
}

/// Why a step does not land on the line along its gradient.
const char* landing_words(const LearningMoment& moment) {
  return moment.step.problem.moving.empty() ? "as it really steps" : "with momentum";
}

/// The stored word that this step harms most, with its loss along the same line; null where there is none.
std::shared_ptr<const HarmNow::Value> harm_now(const LearnScene& scene) {
  HarmNow key;
  key.of = scene.application.session.computed();
  key.token = scene.application.session.token();
  const Known<HarmNow::Value> answer = scene.application.session.questions().ask(key, Urgency::later);
  const bool is_known = answer.value && *answer.value && !answer.stale && !scene.is_old;
  return is_known ? answer.value : nullptr;
}

/// What a curve comes to at `x`, on the line between its two nearest points.
double between_points(std::span<const double> xs, std::span<const double> ys, double x) {
  if (xs.size() < 2 || ys.size() < xs.size()) return std::numeric_limits<double>::quiet_NaN();
  const auto above = std::ranges::lower_bound(xs, x);
  const auto i = std::clamp<std::ptrdiff_t>(above - xs.begin(), 1, std::ssize(xs) - 1);
  const auto j = static_cast<std::size_t>(i);
  const double part = (x - xs[j - 1]) / (xs[j] - xs[j - 1]);
  return ys[j - 1] + part * (ys[j] - ys[j - 1]);
}

/// Its loss along this step; a dot on the curve where the step's size is `at`, and, where momentum takes it
/// off the curve, a ring where it lands.
void draw_harm(const LearnScene& scene, const Chart& chart, Taken& taken, double at, double lands_at,
               const HarmAlong& harm, std::span<const double> xs) {
  const style::Palette& c = style::colours();
  curve(ImGui::GetWindowDrawList(), chart, xs, harm.losses, c.faint, px(2));
  const auto is_in_sight = [&](double loss) { return loss > chart.bottom && loss <= chart.top; };
  const auto point_at = [&](double x, double loss) {
    return ImVec2{std::clamp(chart.x(x), chart.from.x, chart.to.x), chart.y(loss)};
  };
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double on_curve = between_points(xs, harm.losses, at);
  const bool leaves_curve = std::abs(harm.pair.after - on_curve) > 0.02 * (chart.top - chart.bottom);
  if (is_in_sight(on_curve)) {
    const ImVec2 dot = point_at(at, on_curve);
    list->AddCircleFilled(dot, px(dot_size - 2), c.dim);
    taken.boxes.push_back(around(dot));
    learn_map().harm_dot = dot;
  }
  if (!is_in_sight(harm.pair.after)) return;
  const ImVec2 point = point_at(leaves_curve ? lands_at : at, harm.pair.after);
  if (leaves_curve) {
    dashed_line(list, point_at(at, std::clamp(on_curve, chart.bottom, chart.top)), point, c.faint,
                px(style::line));
    list->AddCircleFilled(point, px(dot_size - 2), c.panel);
    list->AddCircle(point, px(dot_size - 2), c.dim, 0, px(2));
    taken.boxes.push_back(around(point));
  }
  const std::string word = quoted_word(*scene.application.session.computed(), harm.pair.token);
  const std::string losses = fmt::format("{:.3g} → {:.3g}", harm.pair.before, harm.pair.after);
  if (leaves_curve) {
    const char* why = landing_words(scene.moment);
    draw_tag(
        chart, taken, point, {px(12), -px(6)}, "",
        {fmt::format("{}: harms {} most: {}", why, word, losses), fmt::format("{} {}: {}", word, why, losses),
         fmt::format("{} {}: {:.3g}", word, why, harm.pair.after)},
        c.dim);
    return;
  }
  draw_tag(chart, taken, point, {px(12), px(2)}, "",
           {fmt::format("{}, which it harms most: {}", word, losses),
            fmt::format("harms {} most: {}", word, losses), fmt::format("harms {}: {}", word, losses),
            fmt::format("{}: {}", word, losses)},
           c.dim);
}

void set_strength(const LearnScene& scene, double value) {
  Session& session = scene.application.session;
  const LearningMoment& moment = scene.moment;
  const InnerProblem& problem = moment.step.problem;
  Choice choice = session.choice();
  const bool has_channels = moment.strength->channel > 0;
  paint(choice.edits, moment.strength->array, problem.first_token,
        problem.first_token + problem.token_count - 1, value,
        has_channels ? std::optional(moment.strength->channel) : std::nullopt);
  session.choose(std::move(choice), "dot");
}

/// Lets the dot be dragged; returns where it is on the axis.
double drag_dot(const LearnScene& scene, const Chart& chart, double present) {
  auto& dragged = context_local<DraggedDot>();
  ImGui::SetCursorScreenPos(chart.from);
  ImGui::InvisibleButton("loss", {chart.to.x - chart.from.x, chart.to.y - chart.from.y});
  const bool active = ImGui::IsItemActive() && scene.moment.strength;
  if (!active) {
    // Let go before what was set last had been computed.
    if (dragged.active && dragged.wanted != dragged.set && scene.moment.strength)
      set_strength(scene, dragged.wanted);
    dragged.active = false;
    if (ImGui::IsItemHovered() && scene.moment.strength) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    return present;
  }
  if (!dragged.active) dragged = {.active = true, .right = chart.right, .wanted = present, .set = present};
  const double wanted = std::clamp(chart.value_at_x(ImGui::GetIO().MousePos.x), 0.0, chart.right);
  const double value = scene.moment.step.problem.rate == scene.moment.strength->value
                           ? wanted
                           : std::max(wanted, least_strength * chart.right);
  dragged.wanted = value;
  if (value != dragged.set && !scene.is_old) {
    set_strength(scene, value);
    dragged.set = value;
  }
  return value;
}

}  // namespace

void draw_loss(const LearnScene& scene, const LearnRoom& room) {
  const style::Palette& c = style::colours();
  const LearningMoment& moment = scene.moment;
  const LearningStep& step = moment.step;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double unit = per_rate(moment);
  const std::vector<std::string> lines = axis_words(moment, room.width() - px(numbers_width));
  Chart chart = chart_of(moment, room, lines.size());
  if (const auto& dragged = context_local<DraggedDot>(); dragged.active) chart.right = dragged.right;
  LearnMap& map = learn_map();
  map.loss = {chart.from, chart.to};

  std::vector<double> xs = moment.rates;
  for (double& x : xs) x *= unit;
  const bool is_network = moment.edge != moment.parabola_edge;
  draw_band(chart, moment.edge * unit);
  draw_axes(chart, moment.edge * unit);
  Taken taken;
  draw_edge(chart, taken, moment.edge * unit, !is_network && step.problem.moving.empty());
  const double at = drag_dot(scene, chart, moment.strength ? step.problem.rate * unit : step.taken);
  if (is_network) {
    std::vector<double> parabola;
    for (const double rate : moment.rates)
      parabola.push_back(step.along.value + step.along.slope * rate + step.along.curvature * rate * rate / 2);
    curve(list, chart, xs, parabola, c.dim, px(1.5F), true);
    taken.lines.push_back(line_of(chart, xs, parabola));
  }
  const ImU32 ink = scene.is_old ? style::mix(c.panel, c.strength, 0.5F) : c.strength;
  curve(list, chart, xs, moment.losses, ink, px(2.5F));
  taken.lines.push_back(line_of(chart, xs, moment.losses));
  draw_axis_words(lines, chart);
  double loss = loss_on_line(moment, at / unit);
  const ImVec2 dot = {std::clamp(chart.x(at), chart.from.x, chart.to.x),
                      std::clamp(chart.y(loss), chart.from.y, chart.to.y)};
  const ImVec2 before = {chart.x(0), chart.y(step.along.value)};
  taken.boxes.push_back(around(before));
  taken.boxes.push_back(around(dot));
  taken.lines.push_back({dot, {dot.x, chart.to.y}});
  const auto harm = context_local<DraggedDot>().active ? nullptr : harm_now(scene);
  if (harm) {
    std::vector<double> along = (*harm)->rates;
    for (double& x : along) x *= unit;
    taken.lines.push_back(line_of(chart, along, (*harm)->losses));
    draw_harm(scene, chart, taken, at, step.taken * unit, **harm, along);
  }
  name_band(chart, taken, moment.edge * unit, moment.losses.back() <= std::ranges::min(moment.losses));

  list->AddCircleFilled(before, px(dot_size), c.text);
  draw_tag(chart, taken, before, {px(14), -px(18)}, "", {fmt::format("before {:.4g}", step.along.value)},
           c.text);

  const bool is_beyond = at / unit > moment.edge;
  const ImU32 dot_ink = is_beyond ? c.alarm : c.strength;
  map.dot = dot;
  dashed_line(list, dot, {dot.x, chart.to.y}, dot_ink, px(style::line));
  const double lands_at = step.taken * unit;
  const bool lands_elsewhere = std::abs(lands_at - at) > 0.01 * chart.right ||
                               std::abs(step.loss_after - loss) > 0.02 * (chart.top - chart.bottom);
  // Where the two cannot be told apart the dot is where the step really lands.
  if (!lands_elsewhere && !context_local<DraggedDot>().active) loss = step.loss_after;
  if (lands_elsewhere && !context_local<DraggedDot>().active) {
    const ImVec2 landing = {std::clamp(chart.x(lands_at), chart.from.x, chart.to.x),
                            std::clamp(chart.y(step.loss_after), chart.from.y, chart.to.y)};
    dashed_line(list, dot, landing, c.dim, px(style::line));
    list->AddCircleFilled(landing, px(dot_size - 1), c.panel);
    list->AddCircle(landing, px(dot_size - 1), c.text, 0, px(2));
    const char* why = landing_words(moment);
    draw_tag(chart, taken, landing, {px(12), px(8)}, "", {fmt::format("{}: {:.4g}", why, step.loss_after)},
             c.text);
  }
  list->AddCircleFilled(dot, px(dot_size + 1.5F), c.panel);
  list->AddCircleFilled(dot, px(dot_size), dot_ink);
  const std::string symbol = moment.strength ? strength_symbol(moment.strength->array) : "";
  draw_tag(chart, taken, dot, {px(14), -px(30)}, symbol,
           {fmt::format("{}{:.3g}   {} {:.3g}", symbol.empty() ? "step " : "", at,
                        is_error_of_token(moment) ? "error" : "loss", loss)},
           is_beyond ? c.alarm : c.text);
}

}  // namespace palimpsest
