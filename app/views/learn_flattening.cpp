// The singular values of a gathered step on their way through Newton–Schulz.

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gl/context_local.h"
#include "app/views/learn.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr double alike_from = 0.68;  // where the usual coefficients bring all that is not tiny
constexpr double alike_to = 1.2;
constexpr double lowest = 1e-5;  // of the axis
constexpr double highest = 6;
constexpr float numbers_width = 52;
constexpr float below_axis = 66;
constexpr Index most_lines = 64;

struct ShownIterate {
  std::optional<std::size_t> index = {};
};

/// Lets one drag over the steps; draws a knob below the one that is looked at.
void drag_iterate(const Chart& chart, Index iterates) {
  const style::Palette& c = style::colours();
  learn_map().iterates = {chart.from, chart.to};
  const auto last = static_cast<double>(iterates - 1);
  ImGui::SetCursorScreenPos(chart.from);
  ImGui::InvisibleButton("iterates", {chart.to.x - chart.from.x, chart.to.y - chart.from.y});
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemActive())
    show_iterate(static_cast<std::size_t>(
        std::lround(std::clamp(chart.value_at_x(ImGui::GetIO().MousePos.x), 0.0, last))));
  const float x = chart.x(static_cast<double>(shown_iterate(static_cast<std::size_t>(iterates))));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({x - px(1), chart.from.y}, {x + px(1), chart.to.y}, c.strength);
  list->AddCircleFilled({x, chart.to.y}, px(6.5F), c.panel);
  list->AddCircleFilled({x, chart.to.y}, px(5), c.strength);
}

Index count_alike(const Matrix<double>& values, Index step) {
  return (values.col(step).array() >= alike_from && values.col(step).array() <= alike_to).count();
}

}  // namespace

std::size_t shown_iterate(std::size_t iterates) {
  const auto& shown = context_local<ShownIterate>().index;
  return shown && *shown < iterates ? *shown : iterates - 1;
}

void show_iterate(std::size_t index) { context_local<ShownIterate>().index = index; }

Index count_used(const Matrix<double>& singular_values) {
  constexpr double rounding = 1e-12;  // of the largest
  if (singular_values.size() == 0) return 0;
  return (singular_values.col(0).array() > rounding * singular_values(0, 0)).count();
}

void draw_flattening(const LearnScene& scene, const LearnRoom& room) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  // [directions, steps], largest first
  const Matrix<double> values =
      scene.moment.step.singular_values.topRows(count_used(scene.moment.step.singular_values));
  if (values.size() == 0) return;
  Chart chart{.from = {room.from.x + px(numbers_width), room.from.y},
              .to = {room.to.x, room.to.y - px(below_axis)},
              .left = -0.15,
              .right = static_cast<double>(values.cols()) - 0.85,
              .top = highest,
              .logarithmic = true};
  const double least = values.minCoeff();
  chart.bottom = std::clamp(least / 2, lowest, 0.1);

  list->AddRectFilled(chart.from, chart.to, style::mix(c.panel, c.background, 0.6F));
  list->AddRectFilled({chart.from.x, chart.y(alike_to)}, {chart.to.x, chart.y(alike_from)},
                      style::mix(c.panel, c.good, 0.3F));
  const style::TextStyle number(style::Text::number_small);
  const float height = text_extent("0").y;
  for (double value = 1; value >= chart.bottom; value /= 10) {
    const float y = std::round(chart.y(value));
    list->AddLine({chart.from.x, y}, {chart.to.x, y}, c.edge, px(style::line));
    learn_text_right({chart.from.x - px(6), y - height / 2}, c.dim, fmt::format("{:g}", value));
  }
  std::vector<double> steps;
  for (Index i = 0; i < values.cols(); ++i) steps.push_back(static_cast<double>(i));
  const Index stride = std::max<Index>(values.rows() / most_lines, 1);
  const auto line = [&](Index direction, ImU32 colour, float width) {
    std::vector<double> course;
    for (Index i = 0; i < values.cols(); ++i) course.push_back(std::max(values(direction, i), chart.bottom));
    curve(list, chart, steps, course, colour, width);
    if (scene.is_old) return;
    for (Index i = 0; i < values.cols(); ++i)
      list->AddCircleFilled(
          {chart.x(steps[static_cast<std::size_t>(i)]), chart.y(course[static_cast<std::size_t>(i)])},
          px(width + 0.8F), colour);
  };
  for (Index direction = 0; direction < values.rows(); direction += stride)
    line(direction, style::with_alpha(c.dim, 0.55F), px(1));
  line(0, c.text, px(2));
  line(values.rows() - 1, c.text, px(2));

  drag_iterate(chart, values.cols());

  const style::TextStyle text(style::Text::caption);
  const float words = text_extent("x").y;
  const std::string band = fmt::format("all alike: {:g} to {:g}", alike_from, alike_to);
  const float beside_knob = chart.x(static_cast<double>(values.cols() - 1)) - px(10);
  learn_text_right({beside_knob, chart.from.y + px(2)}, c.good, band);
  learn_text({chart.from.x + px(8), chart.from.y + px(2)}, c.text, "the strongest direction");
  const std::string weakest = fmt::format("the weakest of {} directions", values.rows());
  learn_text_right({beside_knob, chart.to.y - words - px(6)}, c.dim, weakest);
  for (Index i = 0; i < values.cols(); ++i) {
    const float x = chart.x(static_cast<double>(i));
    const std::string symbol = fmt::format("X_{}", i);
    const float width = measure_formula(symbol, px(16)).width;
    const float left = std::min(x - width / 2, chart.to.x - width);
    const bool is_shown = i == static_cast<Index>(shown_iterate(static_cast<std::size_t>(values.cols())));
    learn_formula({left, chart.to.y + px(24)}, symbol, px(16), is_shown ? c.strength : c.text);
    const std::string alike = room.compact ? std::to_string(count_alike(values, i))
                                           : fmt::format("{} of {}", count_alike(values, i), values.rows());
    const float alike_width = text_extent(alike).x;
    learn_text({std::min(x - alike_width / 2, chart.to.x - alike_width), chart.to.y + px(29)}, c.good, alike);
  }
  learn_text({room.from.x, chart.to.y + px(29)}, c.good, "alike");
  const double growth = values(values.rows() - 1, 1) / values(values.rows() - 1, 0);
  const std::vector<std::string> parts = {
      fmt::format("the rule always takes {} steps: drag to see fewer", values.cols() - 1),
      fmt::format("the smallest grow {:.3g} times in the first", growth)};
  const std::string caption = joined_to_fit(parts, room.width());
  learn_text({room.from.x + (room.width() - text_extent(caption).x) / 2, chart.to.y + px(48)}, c.dim,
             caption);
}

}  // namespace palimpsest
