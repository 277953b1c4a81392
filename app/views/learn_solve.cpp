// How a query finds its solution by conjugate gradients: what is left, and the solution as it grows.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gl/context_local.h"
#include "app/scene/plot.h"
#include "app/views/learn.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float least_height = 90;
constexpr float words_height = 24;  // below both
constexpr Index most_lines = 64;    // of channels
constexpr double rounding = std::numeric_limits<double>::epsilon();

std::vector<double> step_numbers(const ConvergingSolve& solve) {
  std::vector<double> steps;
  for (Index i = 0; i <= solve.steps(); ++i) steps.push_back(static_cast<double>(i));
  return steps;
}

PlotAxis steps_axis(const ConvergingSolve& solve) {
  PlotAxis axis{
      .title = {"steps"}, .low = 0, .high = std::max<double>(static_cast<double>(solve.steps()), 1)};
  axis.has_round = false;
  for (const double step : round_numbers(axis.low, axis.high, 6)) {
    if (step == std::round(step)) axis.named.push_back({.at = step, .words = fmt::format("{:.0f}", step)});
  }
  return axis;
}

ImU32 faded(ImU32 colour, bool is_old) {
  return is_old ? style::mix(style::colours().panel, colour, 0.5F) : colour;
}

/// What is left of the query after each step, how far the solution is, and where the engine stops.
Plot rests_plot(const ConvergingSolve& solve, bool is_old) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "solve/rests",
            .x = steps_axis(solve),
            .y = {.title = {"what is left after each step"},
                  .scale = PlotAxis::Scale::log10,
                  .low = rounding / 30,
                  .high = 30}};
  PlotMark stop = level_mark("rounding", rounding, {.colour = c.good, .width = style::line, .dash = 5});
  stop.label = {.words = {"rounding: it stops"}};
  plot.marks.push_back(stop);
  const auto add = [&](std::vector<double> values, ImU32 colour, const std::string& words) {
    for (double& value : values) value = std::max(value, plot.y.low);
    plot.series.push_back({.name = words,
                           .x = step_numbers(solve),
                           .y = std::move(values),
                           .look = {.colour = faded(colour, is_old),
                                    .marker = is_old ? PlotMarker::none : PlotMarker::circle,
                                    .size = 2.5F},
                           .label = {.words = {words}, .colour = colour}});
  };
  add(solve.differences, c.dim, "to the exact solution");
  add(solve.course.rests, c.strength, "of the query");
  return plot;
}

/// Every channel of the solution on its way to where it must be.
Plot solution_plot(const ConvergingSolve& solve, bool is_old) {
  const style::Palette& c = style::colours();
  double least = std::min(solve.exact.minCoeff(), 0.0);
  double most = std::max(solve.exact.maxCoeff(), 0.0);
  for (const Vector<double>& x : solve.course.solutions) {
    least = std::min(least, x.minCoeff());
    most = std::max(most, x.maxCoeff());
  }
  const double margin = most > least ? 0.1 * (most - least) : 1;
  Plot plot{.name = "solve/solution",
            .x = steps_axis(solve),
            .y = {.title = {fmt::format("the solution, {} channels", solve.exact.size())},
                  .low = least - margin,
                  .high = most + margin}};
  Index largest = 0;
  solve.exact.cwiseAbs().maxCoeff(&largest);
  PlotMark exact =
      level_mark("exact", solve.exact[largest], {.colour = c.good, .width = style::line, .dash = 5});
  exact.label = {.words = {fmt::format("exact: {:.3g}", solve.exact[largest])}};
  exact.wish = {1, 0};
  plot.marks.push_back(exact);
  PlotSeries wanted{.look = {.colour = c.good, .width = 0, .marker = PlotMarker::dash, .size = 5}};
  const auto add = [&](Index channel, const std::string& name, PlotLook look) {
    PlotSeries course{.name = name, .x = step_numbers(solve), .look = look};
    for (const Vector<double>& x : solve.course.solutions) course.y.push_back(x[channel]);
    plot.series.push_back(std::move(course));
    wanted.x.push_back(plot.x.high);
    wanted.y.push_back(solve.exact[channel]);
  };
  const Index stride = std::max<Index>(solve.exact.size() / most_lines, 1);
  for (Index i = 0; i < solve.exact.size(); i += stride)
    add(i, "", {.colour = faded(style::with_alpha(c.dim, 0.55F), is_old), .width = 1});
  add(largest, "largest", {.colour = faded(c.text, is_old)});
  plot.series.push_back(std::move(wanted));
  return plot;
}

/// Who is solved with it, and how the other forms come to the same.
std::vector<std::string> solve_words(const ConvergingSolve& solve) {
  if (solve.course.is_direct)
    return {fmt::format("{} steps were not enough: the engine solved it by Cholesky", solve.steps())};
  std::vector<std::string> words = {fmt::format("{} steps, chunk by chunk", solve.steps()),
                                    "green: by Cholesky, as in the other forms"};
  if (solve.token_count > 1)
    words.push_back(fmt::format("the {} words of a chunk side by side", solve.token_count));
  return words;
}

}  // namespace

bool& shows_solve() {
  struct Shown {
    bool solve = true;
  };
  return context_local<Shown>().solve;
}

void draw_solve(const LearnScene& scene, const LearnRoom& room) {
  Session& session = scene.application.session;
  SolveNow key;
  key.of = session.computed();
  key.token = scene.moment.token;
  key.chunk_size = session.choice().chunk_size;
  const Known<SolveNow::Value> answer = session.questions().ask(key);
  if (!answer.value || !*answer.value) return;
  const ConvergingSolve& solve = **answer.value;
  if (room.height() < px(least_height)) return;
  const bool is_old = scene.is_old || answer.stale;
  const float gap = px(room.compact ? 10 : 28);
  const float middle = std::round(room.from.x + (room.width() - gap) * 0.5F);
  const float bottom = room.to.y - px(words_height);
  draw_plot(rests_plot(solve, is_old), {room.from, {middle, bottom}});
  draw_plot(solution_plot(solve, is_old), {{middle + gap, room.from.y}, {room.to.x, bottom}});
  const style::TextStyle text(style::Text::caption);
  const std::string words = joined_to_fit(solve_words(solve), room.width());
  learn_text({room.from.x + (room.width() - text_extent(words).x) / 2, room.to.y - px(20)},
             style::colours().dim, words);
}

}  // namespace palimpsest
