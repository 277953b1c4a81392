#include "app/stage/draw.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/widgets/formula.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

constexpr float scrubber_height = 10;

void note(StageScene& scene, ImVec2 position, ImVec2 extent) {
  scene.pieces.push_back({position, {position.x + extent.x, position.y + extent.y}});
}

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
  const ImVec2 end = {placed.position.x + placed.extent.x, placed.position.y + placed.extent.y};
  scene.leading.push_back({placed.goes_to, {placed.position, end}});
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
  if (!placed.is_on_picture) note(scene, placed.position, placed.extent);
  const ImVec2 end = {placed.position.x + placed.extent.x, placed.position.y + placed.extent.y};
  offer_enlarging(placed.enlarges, {placed.position, end}, scene);
}

void draw_link(const PlacedLink& link, StageScene& scene) {
  const style::TextStyle text(style::Text::caption);
  ImGui::SetCursorScreenPos(link.position);
  if (ImGui::InvisibleButton(fmt::format("more {}", link.where).c_str(), link.extent))
    scene.wanted = link.operation;
  draw_text(link.position, ImGui::IsItemHovered() ? style::colours().text : style::colours().dim, link.words);
  tooltip(fmt::format("{}. A click goes there.", link.title));
  note(scene, link.position, link.extent);
}

/// At the foot of the present tile: how far its result has grown. Dragging goes there.
void draw_scrubber(const PlacedTile& placed, StageScene& scene) {
  const float height = style::px(scrubber_height);
  const float inset = style::px(8);
  const ImVec2 from = {placed.position.x + inset, placed.position.y + placed.extent.y - height};
  const float width = placed.extent.x - 2 * inset;
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("growth", {width, height});
  const bool is_held = ImGui::IsItemActive();
  if (is_held)
    scene.scrubbed = std::clamp((ImGui::GetMousePos().x - from.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  tooltip("Drag: the result grows out of its operands.");
  if (!is_held && !ImGui::IsItemHovered() && scene.fade >= 1) return;
  const float y = placed.position.y + placed.extent.y - style::px(4);
  const auto grown = static_cast<float>(scene.fade);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({from.x, y}, {from.x + width, y}, style::colours().edge, style::px(style::lit_line));
  list->AddLine({from.x, y}, {from.x + width * grown, y}, style::colours().text, style::px(style::lit_line));
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
  const ImVec2 end = {placed.position.x + placed.extent.x, placed.position.y + placed.extent.y};
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (is_pointed) list->AddRectFilled(placed.position, end, style::mix(c.panel, c.edge, 0.5F), style::px(6));
  list->AddRect(placed.position, end, is_present ? c.text : c.edge, style::px(6),
                style::px(is_present ? style::lit_line : style::line));
  if (is_present) draw_scrubber(placed, scene);
}

void draw_picture(const PlacedPicture& placed, StageScene& scene) {
  const Box& picture = *placed.picture;
  note(scene, placed.position, placed.size);
  if (picture.kind == Box::Kind::picture) {
    (placed.is_thumbnail ? draw_thumbnail : draw_cells)(picture, placed.position, placed.size, scene);
    return;
  }
  const ImVec2 end = {placed.position.x + placed.size.x, placed.position.y + placed.size.y};
  if (scene.view.finished_rows(picture.tensor) == 0) {
    draw_waiting(placed.position, end);
    return;
  }
  ImGui::PushFont(style::font(style::Text::number_large), placed.size.y / style::scale());
  const ImVec2 extent = ImGui::CalcTextSize(picture.digits.c_str());
  ImGui::GetWindowDrawList()->AddText(
      {(placed.position.x + end.x - extent.x) / 2, (placed.position.y + end.y - extent.y) / 2},
      style::colours().role(symbol_in(scene.symbols, picture.tensor).role), picture.digits.c_str());
  ImGui::PopFont();
  if (!placed.is_thumbnail && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(placed.position, end))
    point_at({picture.tensor, 0, 0}, scene);
}

void draw_placed(const PlacedFormula& placed, StageScene& scene) {
  draw_formula(ImGui::GetWindowDrawList(), {placed.position.x, placed.position.y + placed.extent.baseline},
               placed.latex, placed.letters, colour_of(placed.ink));
  note(scene, placed.position, {placed.extent.width, placed.extent.height});
  const ImVec2 end = {placed.position.x + placed.extent.width, placed.position.y + placed.extent.height};
  offer_enlarging(placed.enlarges, {placed.position, end}, scene);
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
    ImGui::GetWindowDrawList()->AddRect(frame.minimum, frame.maximum, style::colours().text, style::px(3),
                                        style::px(style::lit_line));
  }
  for (const PlacedLink& link : layout.links) draw_link(link, scene);
  if (layout.has_rule) {
    ImGui::GetWindowDrawList()->AddLine(layout.rule, {layout.rule.x + width, layout.rule.y},
                                        style::colours().edge);
  }
  for (const PlacedEquation& equation : layout.equations) draw(equation, scene);
}

const Symbol& symbol_in(const Symbols& symbols, const std::string& tensor) {
  static const Symbol blank;
  const auto found = symbols.find(tensor);
  return found == symbols.end() ? blank : found->second;
}

void draw_waiting(ImVec2 minimum, ImVec2 maximum) {
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(minimum, maximum, c.background);
  list->PushClipRect(minimum, maximum, true);
  const float height = maximum.y - minimum.y;
  for (float x = minimum.x - height; x < maximum.x; x += style::px(style::hatch))
    list->AddLine({x, maximum.y}, {x + height, minimum.y}, c.edge, style::px(style::line));
  list->PopClipRect();
}

}  // namespace palimpsest
