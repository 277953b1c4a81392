// How a query finds its solution by conjugate gradients: what is left, and the solution as it grows.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/gl/context_local.h"
#include "app/views/learn.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float numbers_width = 46;
constexpr float below_axis = 44;
constexpr float titles_height = 22;
constexpr Index most_lines = 64;  // of channels
constexpr double rounding = std::numeric_limits<double>::epsilon();

std::vector<double> step_numbers(const ConvergingSolve& solve) {
  std::vector<double> steps;
  for (Index i = 0; i <= solve.steps(); ++i) steps.push_back(static_cast<double>(i));
  return steps;
}

/// Paper, the numbers of the steps below it and what they are.
void draw_ground(const Chart& chart, Index steps, const std::string& title) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(chart.from, chart.to, style::mix(c.panel, c.background, 0.6F));
  {
    const style::TextStyle text(style::Text::caption);
    learn_text({chart.from.x, chart.from.y - px(titles_height)}, c.text,
               shortened(title, chart.to.x - chart.from.x));
  }
  const style::TextStyle number(style::Text::number_small);
  for (const double step : round_numbers(0, static_cast<double>(steps), 6)) {
    if (step != std::round(step)) continue;
    const std::string words = fmt::format("{:.0f}", step);
    const float x = chart.x(step);
    list->AddLine({x, chart.to.y}, {x, chart.to.y + px(4)}, c.faint, px(style::line));
    learn_text({x - text_extent(words).x / 2, chart.to.y + px(6)}, c.dim, words);
  }
}

/// What is left of the query after each step, how far the solution is, and where the engine stops.
void draw_rests(const ConvergingSolve& solve, const LearnRoom& room, bool is_old) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<double> steps = step_numbers(solve);
  Chart chart{.from = {room.from.x + px(numbers_width), room.from.y + px(titles_height)},
              .to = {room.to.x, room.to.y - px(below_axis)},
              .left = 0,
              .right = std::max<double>(steps.back(), 1),
              .bottom = rounding / 30,
              .top = 30,
              .logarithmic = true};
  draw_ground(chart, solve.steps(), "what is left after each step");
  {
    const style::TextStyle number(style::Text::number_small);
    const float height = text_extent("0").y;
    for (int power = 0; power >= -15; power -= 5) {
      const float y = std::round(chart.y(std::pow(10.0, power)));
      list->AddLine({chart.from.x, y}, {chart.to.x, y}, c.edge, px(style::line));
      learn_text_right({chart.from.x - px(6), y - height / 2}, c.dim,
                       power == 0 ? "1" : fmt::format("1e{}", power));
    }
  }
  const auto line = [&](const std::vector<double>& values, ImU32 colour) {
    std::vector<double> course;
    for (const double value : values) course.push_back(std::max(value, chart.bottom));
    curve(list, chart, steps, course, is_old ? style::mix(c.panel, colour, 0.5F) : colour, px(2));
    for (std::size_t i = 0; i < course.size() && !is_old; ++i)
      list->AddCircleFilled({chart.x(steps[i]), chart.y(course[i])}, px(2.5F), colour);
  };
  const float stop = chart.y(rounding);
  dashed_line(list, {chart.from.x, stop}, {chart.to.x, stop}, c.good, px(style::line));
  line(solve.differences, c.dim);
  line(solve.course.rests, c.strength);
  const style::TextStyle text(style::Text::caption);
  const float height = text_extent("x").y;
  learn_text({chart.from.x + px(8), stop - height - px(2)}, c.good, "rounding: it stops");
  // The curves fall from the left above to the right below, so there is room in the upper right corner.
  learn_text_right({chart.to.x - px(8), chart.from.y + px(4)}, c.strength, "of the query");
  learn_text_right({chart.to.x - px(8), chart.from.y + px(4) + height}, c.dim, "to the exact solution");
}

/// Every channel of the solution on its way to where it must be.
void draw_solution(const ConvergingSolve& solve, const LearnRoom& room, bool is_old) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<double> steps = step_numbers(solve);
  double least = std::min(solve.exact.minCoeff(), 0.0);
  double most = std::max(solve.exact.maxCoeff(), 0.0);
  for (const Vector<double>& x : solve.course.solutions) {
    least = std::min(least, x.minCoeff());
    most = std::max(most, x.maxCoeff());
  }
  const double margin = most > least ? 0.1 * (most - least) : 1;
  Chart chart{.from = {room.from.x + px(numbers_width), room.from.y + px(titles_height)},
              .to = {room.to.x - px(10), room.to.y - px(below_axis)},
              .left = 0,
              .right = std::max<double>(steps.back(), 1),
              .bottom = least - margin,
              .top = most + margin};
  const Index stride = std::max<Index>(solve.exact.size() / most_lines, 1);
  Index largest = 0;
  solve.exact.cwiseAbs().maxCoeff(&largest);
  draw_ground(chart, solve.steps(), fmt::format("the solution, {} channels", solve.exact.size()));
  {
    const style::TextStyle number(style::Text::number_small);
    const float height = text_extent("0").y;
    const std::vector<double> rows = round_numbers(chart.bottom, chart.top, 4);
    const double distance = rows.size() > 1 ? rows[1] - rows[0] : 1;
    for (const double value : rows) {
      const float y = std::round(chart.y(value));
      if (y < chart.from.y + height / 2 || y > chart.to.y - height / 2) continue;
      list->AddLine({chart.from.x, y}, {chart.to.x, y}, c.edge, px(style::line));
      learn_text_right({chart.from.x - px(6), y - height / 2}, c.dim, axis_number(value, distance));
    }
  }
  const auto channel = [&](Index i, ImU32 colour, float width) {
    std::vector<double> course;
    for (const Vector<double>& x : solve.course.solutions) course.push_back(x[i]);
    curve(list, chart, steps, course, is_old ? style::mix(c.panel, colour, 0.5F) : colour, width);
    const float y = chart.y(solve.exact[i]);
    list->AddLine({chart.to.x, y}, {chart.to.x + px(8), y}, c.good, px(style::line));
  };
  for (Index i = 0; i < solve.exact.size(); i += stride) channel(i, style::with_alpha(c.dim, 0.55F), px(1));
  const float exact = chart.y(solve.exact[largest]);
  dashed_line(list, {chart.from.x, exact}, {chart.to.x, exact}, c.good, px(style::line));
  channel(largest, c.text, px(2));
  const style::TextStyle text(style::Text::caption);
  const float height = text_extent("x").y;
  const std::string words = fmt::format("exact: {:.3g}", solve.exact[largest]);
  const bool is_up = solve.exact[largest] > 0;
  learn_text_right({chart.to.x - px(8), is_up ? exact + px(3) : exact - height - px(3)}, c.good, words);
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
  const style::Palette& c = style::colours();
  const float gap = px(room.compact ? 10 : 28);
  LearnRoom left = room;
  LearnRoom right = room;
  left.to.x = std::round(room.from.x + (room.width() - gap) * 0.5F);
  right.from.x = left.to.x + gap;
  if (room.height() < px(titles_height + below_axis + 24)) return;
  draw_rests(solve, left, scene.is_old || answer.stale);
  draw_solution(solve, right, scene.is_old || answer.stale);
  const style::TextStyle text(style::Text::caption);
  const std::string words = joined_to_fit(solve_words(solve), room.width());
  learn_text({room.from.x + (room.width() - text_extent(words).x) / 2, room.to.y - px(20)}, c.dim, words);
}

}  // namespace palimpsest
