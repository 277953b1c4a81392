#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float labels_width = 128;  // right of the words: whose line ends there

/// "axis to 20.2", where it ends.
std::string end_words(const LengthScale& scale) { return "axis to " + plain_number(scale.full, 3); }

/// "largest 28.6", how far lines go that leave it; empty: none does.
std::string beyond_words(const LengthScale& scale) {
  return scale.largest > scale.full ? "largest " + plain_number(scale.largest, 3) : std::string();
}

std::string axis_explained(const LengthScale& scale) {
  const std::string what = "How long the error is that is left after each word, one line for every side.";
  if (!(scale.largest > scale.full)) return what;
  return fmt::format(
      "{} The axis ends at {:.3g}, which 95 % of them stay below; the largest is {:.3g}. Arrows at the upper "
      "edge stand where a line leaves it.",
      what, scale.full, scale.largest);
}

/// The colours of every memory above, and what they end at.
void draw_scale(ImVec2 from, float width, double range) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::number_small);
  const std::string least = fmt::format("−{:.2g}", range);
  const std::string most = fmt::format("{:.2g}", range);
  const float height = text_extent("x").y;
  draw_text(from, c.dim, least);
  draw_text({from.x + width - text_extent(most).x, from.y}, c.dim, most);
  const float left = from.x + text_extent(least).x + px(6);
  const float right = from.x + width - text_extent(most).x - px(6);
  const float top = from.y + (height - px(8)) / 2;
  for (float x = left; x < right; x += 1) {
    const float part = 2 * (x - left) / (right - left) - 1;
    ImGui::GetWindowDrawList()->AddRectFilled({x, top}, {x + 1, top + px(8)},
                                              style::colour(colour(c.map, part, 1)));
  }
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("scale of the memories", {width, height});
  tooltip("The colours of all memories and differences above: one scale for every side.");
}

/// What the lines are, and where their axis ends.
FloorRow lines_row(const LengthScale& scale) {
  const style::Palette& c = style::colours();
  FloorRow row{.name = "errors", .kind = FloorRow::Kind::own, .above = 6, .below = 3};
  row.label = {
      .lines = {{.words = "error left", .colour = c.error}, {.words = end_words(scale), .colour = c.dim}},
      .top = true};
  if (const std::string over = beyond_words(scale); !over.empty())
    row.label.lines.push_back({.words = over, .colour = c.dim});
  row.levels = {{.part = 0, .words = "0", .ink = c.dim}};
  return row;
}

void draw_compared_errors(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  to.x -= px(labels_width);
  const auto columns = columns_between(session, from, to, {60, 80});
  if (!columns) return;
  const ComparedSides all = compared(application);
  const LengthScale scale = compared_scale(all);
  Floor floor = floor_of(session, "errors");
  floor.rows = {captions_row(), words_row(), lines_row(scale)};
  floor.rows.back().draw = [&](const FloorColumns& over, const Rectangle& place) {
    Plot plot = compared_errors_plot(all, scale, word_places(over), session.token());
    plot.beside = labels_width;
    draw_over_words(plot, place);
  };
  show_floor(application, floor, *columns);
  const Part* lines = floor_part("errors");
  if (!lines) return;
  const auto [upper, lower] = lines->where;
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({from.x, upper.y}, {upper.x, lower.y}))
    tooltip_beside({from.x, upper.y}, {upper.x, lower.y}, axis_explained(scale));
  draw_scale({to.x + px(12), from.y}, px(labels_width - 12), all.range);
}

}  // namespace

void draw_compare_floor(Application& application) {
  draw_floor_panel(application, "##compare floor", 10, 4, RowsAbove::none,
                   [&](ImVec2 from, ImVec2 to) { draw_compared_errors(application, from, to); });
}

}  // namespace palimpsest
