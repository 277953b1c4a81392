#include "app/stage/draw.h"

#include "app/scene/plot.h"
#include "app/widgets/chart.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float scrubber_height = 10;
constexpr float faintest_link = 0.08F;
constexpr double least_shown = 1e-12;  // on a logarithmic axis

/// The axis upwards, which all numbers and the band have room on.
PlotAxis values_axis(const HeroChart& chart, const Matrix<double>& values) {
  double least = chart.is_logarithmic ? 1 : 0;
  double most = chart.is_logarithmic ? 1 : chart.high;
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (!std::isfinite(value)) continue;
    least = std::min(least, chart.is_logarithmic ? std::max(value, least_shown) : value);
    most = std::max(most, value);
  }
  if (!chart.is_logarithmic) return {.low = least, .high = most > least ? most : least + 1};
  const double low = std::pow(10, std::floor(std::log10(least)));
  return {.scale = PlotAxis::Scale::log10, .low = low, .high = most > low ? most : 10 * low};
}

/// Its symbols at the steps that they are spread over, or the steps by number.
PlotAxis columns_axis(const HeroChart& chart, Index columns) {
  PlotAxis axis{.high = std::max(static_cast<double>(columns - 1), 1.0),
                .has_round = chart.columns.empty(),
                .has_grid = false};
  if (chart.columns.empty()) axis.title = {"steps"};
  const double distance = axis.high / std::max(static_cast<double>(chart.columns.size()) - 1, 1.0);
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    axis.named.push_back({.at = static_cast<double>(i) * distance, .latex = chart.columns[i]});
  return axis;
}

Plot hero_plot(const HeroChart& chart, const Matrix<double>& values) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "stage/" + chart.tensor,
            .x = columns_axis(chart, values.cols()),
            .y = values_axis(chart, values),
            .explores = true};
  if (chart.high > chart.low)
    plot.marks.push_back({.kind = PlotMark::Kind::area,
                          .name = "alike",
                          .y = chart.low,
                          .to_y = chart.high,
                          .look = {.colour = c.good},
                          .fill = 0.18F});
  for (Index row = 0; row < values.rows(); ++row) {
    const float part =
        values.rows() > 1 ? static_cast<float>(row) / static_cast<float>(values.rows() - 1) : 0;
    PlotSeries line{.look = {.colour = style::mix(c.error, c.gate, part), .width = 1.5F}};
    for (Index column = 0; column < values.cols(); ++column) {
      line.x.push_back(static_cast<double>(column));
      line.y.push_back(chart.is_logarithmic ? std::max(values(row, column), plot.y.low)
                                            : values(row, column));
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

void draw_scrubber(const Rectangle& tile, StageScene& scene) {
  const float height = px(scrubber_height);
  const float inset = px(8);
  const ImVec2 from = {tile.minimum.x + inset, tile.maximum.y - height};
  const float width = tile.maximum.x - inset - from.x;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("growth", {width, height});
  const bool is_held = ImGui::IsItemActive();
  if (is_held)
    scene.scrubbed = std::clamp((ImGui::GetMousePos().x - from.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  tooltip("Drag to animate the result.");
  if (!is_held && !ImGui::IsItemHovered() && scene.fade >= 1) return;
  const float y = tile.maximum.y - px(4);
  const auto grown = static_cast<float>(scene.fade);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({from.x, y}, {from.x + width, y}, style::colours().edge, px(style::lit_line));
  list->AddLine({from.x, y}, {from.x + width * grown, y}, style::colours().text, px(style::lit_line));
}

void draw_tile(const StageTile& tile, const Rectangle& where, const StageScene& scene) {
  const bool is_present = tile.operation == scene.view.present_operation;
  const style::Palette& c = style::colours();
  const auto& [from, to] = where;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
    list->AddRectFilled(from, to, style::mix(c.panel, c.edge, 0.5F), px(6));
  list->AddRect(from, to, is_present ? c.text : c.edge, px(6),
                px(is_present ? style::lit_line : style::line));
}

void draw_links(const LinkedLayers& layers, const Rectangle& where, const StageScene& scene) {
  const bool has_both = scene.view.finished_rows(layers.to.picture->tensor) != 0;
  if (layers.links.empty() || !has_both) return;
  const auto strongest = static_cast<float>(std::abs(layers.links.back().amount));
  const auto height_of = [&](const LinkedLayers::Layer& layer, Index unit) {
    const float part = (static_cast<float>(unit) + 0.5F) / static_cast<float>(layer.picture->rows);
    return where.middle().y + layer.height * (part - 0.5F);
  };
  const float left = where.minimum.x + px(2);
  const float right = where.maximum.x - px(2);
  const bool is_made = layers.to.picture->tensor == scene.view.lit;
  const auto grown = is_made ? static_cast<float>(scene.fade) : 1.0F;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const StrongLink& link : layers.links) {
    const auto amount = static_cast<float>(link.amount);
    const ImU32 ink = style::colour(colour(style::colours().map, amount, strongest));
    const float strength = std::max(std::abs(amount) / strongest, faintest_link);
    const ImVec2 from = {left, height_of(layers.from, link.from)};
    const ImVec2 to = {right, height_of(layers.to, link.to)};
    list->AddLine(from, from + (to - from) * grown, style::with_alpha(ink, strength), px(style::line));
  }
}

void draw_chart(const HeroChart& chart, const Rectangle& where, const StageScene& scene) {
  if (scene.view.finished_rows(chart.tensor) == 0) return draw_waiting(where);
  draw_plot(hero_plot(chart, scene.record.at(chart.tensor)), where);
}

void draw_waiting(const Rectangle& where) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(where.minimum, where.maximum, style::colours().background);
  hatch(list, where, style::colours().edge);
}

}  // namespace palimpsest
