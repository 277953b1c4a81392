#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/views/floor.h"
#include "app/views/timeline_rows.h"
#include "app/views/timeline_scale.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"
#include "core/base/plain_number.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float caption_height = 16;
constexpr float words_height = 26;
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

void draw_floor(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const style::Palette& c = style::colours();
  auto& view = context_local<TimelineView>();
  const ImVec2 position = {from.x + px(timeline_gutter - style::panel_padding), from.y};
  const ImVec2 size = {to.x - position.x - px(labels_width), to.y - position.y};
  if (size.x < px(60) || size.y < px(80)) return;
  const ComparedSides all = compared(application);
  const LengthScale scale = compared_scale(all);
  const TimelineColumns columns = timeline_columns(view, session, position, size);
  const float words_top = position.y + px(caption_height);
  const float top = words_top + px(words_height) + px(6);
  const float bottom = to.y - px(3);
  {
    TimelineRows words(columns, session);
    words.groups(position.y, to.y);
    words.words(words_top + px(2));
    const style::TextStyle text(style::Text::caption);
    const float line = text_extent("x").y;
    words.name("error left", top, c.error);
    words.name(end_words(scale), top + line, c.dim);
    compare_map().axis = {end_words(scale)};
    if (const std::string over = beyond_words(scale); !over.empty() && top + 3 * line < bottom) {
      words.name(over, top + 2 * line, c.dim);
      compare_map().axis.push_back(over);
    }
    words.name("0", bottom - px(2), c.dim);
    const WordPlaces places = {columns.begin(), columns.end(), static_cast<double>(size.x), [&](Index token) {
                                 return static_cast<double>(columns.left(token) - position.x);
                               }};
    ImGui::GetWindowDrawList()->PushClipRectFullScreen();  // rows are clipped to the words
    Plot plot = compared_errors_plot(all, scale, places, session.token());
    plot.beside = labels_width;
    draw_plot(plot, {{position.x, top}, {position.x + size.x, bottom}});
    ImGui::GetWindowDrawList()->PopClipRect();
    words.cursor(position.y + px(caption_height - 2), to.y);
  }
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({from.x, top}, {position.x, bottom}))
    tooltip_beside({from.x, top}, {position.x, bottom}, axis_explained(scale));
  draw_scale({position.x + size.x + px(12), position.y}, px(labels_width - 12), all.range);
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton("errors", size);
  scrub(application, view, columns);
  turn_wheel_over_item(view, columns, session);
}

}  // namespace

void draw_compare_floor(Application& application) {
  draw_floor_panel(application, "##compare floor", 10, 4, RowsAbove::none, [&](ImVec2 from, ImVec2 to) {
    const Session& session = application.session;
    if (session.computed() && !session.computed()->tokens.empty()) draw_floor(application, from, to);
  });
}

}  // namespace palimpsest
