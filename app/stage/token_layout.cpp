// One token: the line at the cursor as large as fits; below it the present step by itself, and other lines.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/stage/layout.h"

namespace palimpsest {

namespace {

constexpr float large_share = 0.56F;  // of the height
constexpr float height_of_two = 250;  // the pictures stand in two rows from this on
constexpr float least_column = 150;   // of the lower row
constexpr float step_share = 0.5F;    // of the lower row, for the present step
constexpr float title_height = 28;    // of a picture
constexpr float title_margin = 8;     // right of it
constexpr float picture_margin = 12;  // left and right of pictures together, and between the rows
constexpr float column_margin = 24;
constexpr float rule_margin = 10;  // between the rule and what is below it
constexpr float foot = 8;          // below pictures that have the whole height

/// Places an equation under its title, as large as fits into `room`.
void place_titled(StageLayout& layout, const Ruler& ruler, const StageLine& line, EquationLayout equation,
                  bool lit, ImVec2 position, ImVec2 room) {
  const std::string title =
      ruler.shortened(line.title, style::Text::caption, room.x - ruler.px(title_margin));
  layout.words.push_back({.position = position,
                          .words = title,
                          .ink = lit ? Ink::text : Ink::dim,
                          .extent = ruler.words(title, style::Text::caption, -1)});
  const float top = ruler.px(title_height);
  const ImVec2 size = equation.fit({room.x - ruler.px(picture_margin), room.y - top});
  const ImVec2 corner = {position.x + (room.x - size.x) / 2,
                         position.y + top + std::max((room.y - top - size.y) / 2, 0.0F)};
  layout.equations.push_back({std::move(equation), corner});
}

/// What stands below the large picture: the present step by itself, and other lines.
struct LowerRow {
  std::vector<EquationLayout> equations;  // of all lines
  float step = 0;  // the width that the steps need; it does not change while the cursor is in a line
  std::vector<float> widths;  // that the lines need
  LinesInSight window;

  bool is_empty() const { return step == 0 && window.first == window.last; }
  bool has_all() const { return window.first == 0 && window.last + 1 == equations.size(); }
};

LowerRow lower_row(const StageView& view, ImVec2 room, const Ruler& ruler) {
  LowerRow row;
  for (const Box& step : view.steps) {
    const float width = EquationLayout(step, ruler).least(0).x + ruler.px(column_margin);
    row.step = std::max({row.step, width, room.x * step_share});
  }
  const float height = room.y - ruler.px(link_height) - ruler.px(title_height);
  for (const StageLine& line : view.lines) {
    const ImVec2 least = row.equations.emplace_back(line.equation, ruler).least(0);
    row.widths.push_back(
        least.y <= height ? std::max(least.x + ruler.px(column_margin), ruler.px(least_column)) : room.x + 1);
  }
  row.window = window_around(view.present, row.widths, room.x - row.step);
  return row;
}

void place_lower_row(StageLayout& layout, const Ruler& ruler, const StageView& view, LowerRow& lower,
                     ImVec2 origin, ImVec2 room) {
  struct Column {
    const StageLine* line;
    EquationLayout equation;
    float width;
  };
  std::vector<Column> columns;
  if (view.step) columns.push_back({&*view.step, EquationLayout(view.step->equation, ruler), lower.step});
  for (std::size_t i = lower.window.first; i <= lower.window.last; ++i) {
    if (i != view.present)
      columns.push_back({&view.lines[i], std::move(lower.equations[i]), lower.widths[i]});
  }
  if (columns.empty()) return;
  // The step keeps its place; what is left over goes to the others.
  const float needed = std::accumulate(columns.begin(), columns.end(), 0.0F,
                                       [](float sum, const Column& column) { return sum + column.width; });
  const bool shares_with_others = view.step && columns.size() > 1;
  const float part = (room.x - needed) / static_cast<float>(columns.size() - (shares_with_others ? 1 : 0));
  const float height = room.y - (lower.has_all() ? 0 : ruler.px(link_height));
  float x = origin.x;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_step = i == 0 && view.step;
    const float width = columns[i].width + (i == 0 && shares_with_others ? 0 : part);
    place_titled(layout, ruler, *columns[i].line, std::move(columns[i].equation), is_step, {x, origin.y},
                 {width - ruler.px(picture_margin), height});
    x += width;
  }
}

}  // namespace

StageLayout lay_out_token(const StageView& view, ImVec2 origin, ImVec2 room, const Ruler& ruler) {
  StageLayout layout;
  const StageLine& present = view.lines[view.present];
  const auto place_large = [&](float height) {
    place_titled(layout, ruler, present, EquationLayout(present.equation, ruler), true, origin,
                 {room.x, height});
  };
  if (room.y < ruler.px(height_of_two)) {
    place_large(room.y - ruler.px(foot));
    return layout;
  }
  const float height = std::floor(room.y * large_share);
  const ImVec2 lower_room = {room.x, room.y - height - ruler.px(picture_margin)};
  LowerRow lower = lower_row(view, lower_room, ruler);
  const float links = origin.y + room.y - ruler.px(link_height - 4);
  place_link(layout, ruler, {origin.x, links}, lower.window.first, "before", lower.window.first - 1);
  place_link(layout, ruler, {origin.x + room.x, links}, view.lines.size() - 1 - lower.window.last, "to come",
             lower.window.last + 1, true);
  if (lower.is_empty()) {
    place_large(room.y - ruler.px(foot) - (lower.has_all() ? 0 : ruler.px(link_height)));
    return layout;
  }
  place_large(height - ruler.px(picture_margin));
  const float y = origin.y + height;
  layout.has_rule = true;
  layout.rule = {origin.x, y};
  place_lower_row(layout, ruler, view, lower, {origin.x, y + ruler.px(rule_margin)}, lower_room);
  return layout;
}

}  // namespace palimpsest
