#include "app/stage/draw.h"

#include <fmt/format.h>

#include "app/widgets/text.h"

namespace palimpsest {

namespace {

void note(StageScene& scene, ImVec2 position, ImVec2 extent) {
  scene.pieces.push_back({position, {position.x + extent.x, position.y + extent.y}});
}

ImU32 colour_of(Ink ink) {
  const style::Palette& c = style::colours();
  return ink == Ink::text ? c.text : ink == Ink::dim ? c.dim : c.faint;
}

void draw_words(const PlacedWords& placed, StageScene& scene) {
  const style::TextStyle text(placed.text);
  if (placed.wrap > 0) {
    ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), placed.position,
                                        colour_of(placed.ink), placed.words.c_str(), nullptr, placed.wrap);
  } else {
    draw_text(placed.position, colour_of(placed.ink), placed.words);
  }
  note(scene, placed.position, placed.extent);
}

void draw_link(const PlacedLink& link, StageScene& scene) {
  const style::TextStyle text(style::Text::caption);
  ImGui::SetCursorScreenPos(link.position);
  if (ImGui::InvisibleButton(fmt::format("more {}", link.where).c_str(), link.extent))
    scene.wanted = link.line;
  draw_text(link.position, ImGui::IsItemHovered() ? style::colours().text : style::colours().dim, link.words);
  tooltip(fmt::format("{}. A click goes there.", scene.view.lines[link.line].title));
  note(scene, link.position, link.extent);
}

}  // namespace

void draw(const StageLayout& layout, StageScene& scene) {
  const float width = ImGui::GetContentRegionAvail().x;
  for (const PlacedLink& link : layout.links) draw_link(link, scene);
  for (const PlacedWords& words : layout.words) draw_words(words, scene);
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
