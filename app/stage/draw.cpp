#include "app/stage/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/scene/parts.h"
#include "app/scene/plot.h"
#include "app/widgets/chart.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float scrubber_height = 10;
constexpr float faintest_link = 0.08F;
constexpr float mark_side = 20;
constexpr float mark_inset = 4;
constexpr float least_picture = 56;    // in smaller ones the mark would hide too much
constexpr double least_shown = 1e-12;  // on a logarithmic axis

ImU32 colour_of(Ink ink) {
  const style::Palette& c = style::colours();
  return ink == Ink::text ? c.text : ink == Ink::dim ? c.dim : c.faint;
}

ImU32 colour_of(const PlacedWords& placed) {
  return placed.role == Role::plain ? colour_of(placed.ink) : style::colours().role(placed.role);
}

/// Makes words that lead to another line a button; returns whether it is pointed at.
bool lead(const PlacedWords& placed, StageScene& scene) {
  if (placed.goes_to < 0) return false;
  ImGui::SetCursorScreenPos(placed.position);
  if (ImGui::InvisibleButton(fmt::format("{} {}", placed.goes_to, placed.words).c_str(), placed.extent))
    scene.wanted = placed.goes_to;
  tooltip("A click goes to this line; the wheel to the next one.");
  note_part(fmt::format("line/{}", placed.goes_to), box_at(placed.position, placed.extent), placed.words);
  return ImGui::IsItemHovered() || ImGui::IsItemFocused();
}

void draw_words(const PlacedWords& placed, StageScene& scene) {
  const ImU32 ink = lead(placed, scene) ? style::colours().text : colour_of(placed);
  const style::TextStyle text(placed.text);
  if (placed.rises) {
    const float foot = placed.position.y + placed.extent.y;
    const float inset = std::floor((placed.extent.x - text_extent(placed.words).y) / 2);
    draw_rising_text({placed.position.x + inset, foot}, ink, placed.words);
  } else if (placed.wrap > 0) {
    ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), placed.position, ink,
                                        placed.words.c_str(), nullptr, placed.wrap);
  } else {
    draw_text(placed.position, ink, placed.words);
  }
  const Rectangle place = box_at(placed.position, placed.extent);
  if (!placed.is_on_picture) note_part("piece", place, placed.words);
  offer_enlarging(placed.enlarges, place, scene);
}

void draw_link(const PlacedLink& link, StageScene& scene) {
  const style::TextStyle text(style::Text::caption);
  ImGui::SetCursorScreenPos(link.position);
  if (ImGui::InvisibleButton(fmt::format("more {}", link.where).c_str(), link.extent))
    scene.wanted = link.operation;
  draw_text(link.position, ImGui::IsItemHovered() ? style::colours().text : style::colours().dim, link.words);
  tooltip(fmt::format("{}. A click goes there.", link.title));
  note_part("piece", box_at(link.position, link.extent), link.words);
}

/// At the foot of the present tile: how far its result has grown. Dragging goes there.
void draw_scrubber(const PlacedTile& placed, StageScene& scene) {
  const float height = px(scrubber_height);
  const float inset = px(8);
  const ImVec2 from = {placed.position.x + inset, placed.position.y + placed.extent.y - height};
  const float width = placed.extent.x - 2 * inset;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("growth", {width, height});
  const bool is_held = ImGui::IsItemActive();
  if (is_held)
    scene.scrubbed = std::clamp((ImGui::GetMousePos().x - from.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  tooltip("Drag: the result grows out of its operands.");
  if (!is_held && !ImGui::IsItemHovered() && scene.fade >= 1) return;
  const float y = placed.position.y + placed.extent.y - px(4);
  const auto grown = static_cast<float>(scene.fade);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({from.x, y}, {from.x + width, y}, style::colours().edge, px(style::lit_line));
  list->AddLine({from.x, y}, {from.x + width * grown, y}, style::colours().text, px(style::lit_line));
}

/// The outline of a step's tile; a click goes to the step.
void draw_tile(const PlacedTile& placed, StageScene& scene) {
  const StageTile& tile = scene.view.tiles[placed.tile];
  const bool is_present = tile.operation == scene.view.present_operation;
  const style::Palette& c = style::colours();
  ImGui::SetCursorScreenPos(placed.position);
  ImGui::SetNextItemAllowOverlap();
  if (ImGui::InvisibleButton(fmt::format("step {}", tile.operation).c_str(), placed.extent))
    scene.wanted = tile.operation;
  const bool is_pointed = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  tooltip(fmt::format("{}: {}", tile.words, tile.sentence));
  const ImVec2 end = box_at(placed.position, placed.extent).maximum;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (is_pointed) list->AddRectFilled(placed.position, end, style::mix(c.panel, c.edge, 0.5F), px(6));
  list->AddRect(placed.position, end, is_present ? c.text : c.edge, px(6),
                px(is_present ? style::lit_line : style::line));
  if (is_present) draw_scrubber(placed, scene);
}

void draw_picture(const PlacedPicture& placed, StageScene& scene) {
  const Box& picture = *placed.picture;
  const Rectangle place = box_at(placed.position, placed.size);
  note_part("piece", place, picture.digits);
  if (picture.kind == Box::Kind::picture)
    draw_cells(picture, placed.position, placed.size, scene, placed.is_thumbnail);
  else
    draw_number(picture, place, placed.size.y / style::scale(), !placed.is_thumbnail, scene);
}

void draw_placed(const PlacedFormula& placed, StageScene& scene) {
  draw_formula(ImGui::GetWindowDrawList(), {placed.position.x, placed.position.y + placed.extent.baseline},
               placed.latex, placed.letters, colour_of(placed.ink));
  const Rectangle place = box_at(placed.position, {placed.extent.width, placed.extent.height});
  note_part("piece", place, placed.latex);
  offer_enlarging(placed.enlarges, place, scene);
}

/// What the units of a network send each other; `fade` of it.
void draw_links(const PlacedLinks& placed, const StageScene& scene) {
  const std::vector<StrongLink>& links = placed.links->links;
  const bool has_both = scene.view.finished_rows(placed.to.picture->tensor) != 0;
  if (links.empty() || !has_both) return;
  const auto strongest = static_cast<float>(std::abs(links.back().amount));
  const auto height_of = [](const PlacedPicture& layer, Index unit) {
    const auto rows = static_cast<float>(layer.picture->rows);
    return layer.position.y + layer.size.y * (static_cast<float>(unit) + 0.5F) / rows;
  };
  const float left = placed.from.position.x + placed.from.size.x + px(2);
  const float right = placed.to.position.x - px(2);
  const bool is_made = placed.to.picture->tensor == scene.view.lit;
  const auto grown = is_made ? static_cast<float>(scene.fade) : 1.0F;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const StrongLink& link : links) {
    const auto amount = static_cast<float>(link.amount);
    const ImU32 ink = style::colour(colour(style::colours().map, amount, strongest));
    const float strength = std::max(std::abs(amount) / strongest, faintest_link);
    const ImVec2 from = {left, height_of(placed.from, link.from)};
    const ImVec2 to = {right, height_of(placed.to, link.to)};
    list->AddLine(from, {from.x + (to.x - from.x) * grown, from.y + (to.y - from.y) * grown},
                  style::with_alpha(ink, strength), px(style::line));
  }
}

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
            .y = values_axis(chart, values)};
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

/// Lines over the steps inside an operation.
void draw_chart(const PlacedChart& placed, const StageScene& scene) {
  const Rectangle room = box_at(placed.position, placed.size);
  note_part("piece", room, placed.chart->title);
  if (scene.view.finished_rows(placed.chart->tensor) == 0) return draw_waiting(room.minimum, room.maximum);
  draw_plot(hero_plot(*placed.chart, scene.record.at(placed.chart->tensor)), room);
}

bool is_under_pointer(const Rectangle& place) {
  return ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(place.minimum, place.maximum);
}

void enlarge_on_click(const std::string& tensor, StageScene& scene) {
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) scene.enlarge = tensor;
}

/// Two arrows, from the middle to opposite corners.
void draw_arrows(const Rectangle& mark, ImU32 colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inset = px(5);
  const float head = px(5);
  const float width = px(1.5F);
  const ImVec2 top = {mark.maximum.x - inset, mark.minimum.y + inset};
  const ImVec2 foot = {mark.minimum.x + inset, mark.maximum.y - inset};
  list->AddLine(top, foot, colour, width);
  list->AddLine(top, {top.x - head, top.y}, colour, width);
  list->AddLine(top, {top.x, top.y + head}, colour, width);
  list->AddLine(foot, {foot.x + head, foot.y}, colour, width);
  list->AddLine(foot, {foot.x, foot.y - head}, colour, width);
}

}  // namespace

void draw(const StageLayout& layout, StageScene& scene) {
  const float width = ImGui::GetContentRegionAvail().x;
  for (const PlacedTile& tile : layout.tiles) draw_tile(tile, scene);
  for (const PlacedLinks& links : layout.links_between) draw_links(links, scene);
  for (const PlacedPicture& picture : layout.pictures) draw_picture(picture, scene);
  for (const PlacedChart& chart : layout.charts) draw_chart(chart, scene);
  for (const PlacedFormula& formula : layout.formulas) draw_placed(formula, scene);
  for (const PlacedWords& words : layout.words) draw_words(words, scene);
  for (const PlacedFrame& frame : layout.frames) {
    ImGui::GetWindowDrawList()->AddRect(frame.minimum, frame.maximum, style::colours().text, px(3),
                                        px(style::lit_line));
  }
  for (const PlacedLink& link : layout.links) draw_link(link, scene);
  if (layout.has_rule) {
    ImGui::GetWindowDrawList()->AddLine(layout.rule, {layout.rule.x + width, layout.rule.y},
                                        style::colours().edge);
  }
  for (const PlacedEquation& equation : layout.equations) draw(equation, scene);
}

void draw_waiting(ImVec2 minimum, ImVec2 maximum) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(minimum, maximum, style::colours().background);
  hatch(list, minimum, maximum, style::colours().edge);
}

void draw_number(const Box& number, const Rectangle& place, float letters, bool is_read, StageScene& scene) {
  const auto& [from, to] = place;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (scene.view.finished_rows(number.tensor) == 0) {
    list->AddRect(from, to, style::colours().edge);
    return draw_waiting(from, to);
  }
  ImGui::PushFont(style::font(style::Text::number_large), letters);
  const ImVec2 extent = ImGui::CalcTextSize(number.digits.c_str());
  list->AddText({(from.x + to.x - extent.x) / 2, (from.y + to.y - extent.y) / 2},
                style::colours().role(symbol_in(scene.symbols, number.tensor).role), number.digits.c_str());
  ImGui::PopFont();
  if (is_read && is_under_pointer(place)) point_at({number.tensor, 0, 0}, scene);
}

void offer_enlarging(const std::string& tensor, const Rectangle& place, StageScene& scene) {
  if (tensor.empty()) return;
  note_part("name/" + tensor, place);
  if (!is_under_pointer(place)) return;
  ImGui::GetWindowDrawList()->AddLine({place.minimum.x, place.maximum.y}, place.maximum, style::colours().dim,
                                      px(style::line));
  enlarge_on_click(tensor, scene);
}

bool draw_enlarging_mark(const std::string& tensor, ImVec2 position, ImVec2 size, StageScene& scene) {
  if (std::min(size.x, size.y) < px(least_picture)) return false;
  const float right = position.x + size.x - px(mark_inset);
  const float top = position.y + px(mark_inset);
  const Rectangle mark = {{right - px(mark_side), top}, {right, top + px(mark_side)}};
  note_part("mark/" + tensor, mark);
  const bool is_pointed = is_under_pointer(mark);
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(mark.minimum, mark.maximum, c.panel, px(4));
  list->AddRect(mark.minimum, mark.maximum, is_pointed ? c.text : c.edge, px(4), px(style::line));
  draw_arrows(mark, is_pointed ? c.text : c.dim);
  if (!is_pointed) return false;
  tooltip_beside(mark.minimum, mark.maximum, "Enlarges this picture, or goes back to the step (E)");
  enlarge_on_click(tensor, scene);
  return true;
}

}  // namespace palimpsest
