#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gl/context_local.h"
#include "app/views/attend.h"
#include "app/views/floor.h"
#include "app/views/timeline_rows.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float caption_height = 16;
constexpr float words_height = 26;
constexpr float least_bar = 0.02F;     // of the largest: from here on a bar is seen in any case
constexpr double least_number = 0.08;  // of the largest bar: smaller ones carry no number

/// One rule's weights of the present row as bars over and under a line.
void draw_bars(const TimelineColumns& columns, Index present, const Vector<double>& weights, double total,
               double most, float top, float bottom) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::number_small);
  const bool subtracts = weights.size() > 0 && weights.minCoeff() < -most / 50;
  const float zero = subtracts ? top + (bottom - top) * 0.66F : bottom - px(2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({columns.position.x, zero}, {columns.position.x + columns.size.x, zero}, c.edge);
  struct BarNumber {
    float middle;  // of its bar
    float half;    // of the bar's width
    float y;
    std::string words;
  };
  std::vector<BarNumber> numbers;
  std::vector<Rectangle> bars;
  const Index end = std::min<Index>(columns.end(), weights.size());
  for (Index t = columns.begin(); t < end; ++t) {
    const double share = total > 0 ? weights(t) / total : 0;
    if (share == 0) continue;
    const auto part = static_cast<float>(std::clamp(share / most, -1.0, 1.0));
    const float full = part > 0 ? zero - top : bottom - zero;
    const float least = std::abs(part) > least_bar ? px(2) : 1;
    const float height = std::copysign(std::max(std::abs(part) * full, least), part);
    const float left = columns.left_pixel(t);
    const float right = std::max(columns.left_pixel(t + 1) - 1, left + 1);
    const float middle = (left + right) / 2;
    const float half = std::min((right - left) / 2, px(9));
    list->AddRectFilled({middle - half, std::min(zero, zero - height)},
                        {middle + half, std::max(zero, zero - height)}, bar_colour(share, most));
    bars.push_back(
        {{middle - half, std::min(zero, zero - height)}, {middle + half, std::max(zero, zero - height)}});
    if (std::abs(share) < least_number * most || right - left < px(18)) continue;
    const std::string number = fmt::format("{:.0f}", 100 * share);
    const float y =
        part < 0 ? zero + px(1) : std::clamp(zero - height - px(2), top, bottom - text_extent(number).y);
    if (number != "0" && number != "-0") numbers.push_back({middle, half, y, number});
  }
  attend_map().bars.insert(attend_map().bars.end(), bars.begin(), bars.end());
  // Beside their bars, where they lie over no other; that of the cursor's bar beside its frame.
  const float frame[] = {columns.left(present), columns.left(present) + columns.width(present)};
  const auto crosses_frame = [&](const Rectangle& box) {
    const float margin = px(2);
    return std::ranges::any_of(
        frame, [&](float x) { return box.minimum.x < x + margin && box.maximum.x > x - margin; });
  };
  for (const BarNumber& each : numbers) {
    const ImVec2 extent = text_extent(each.words);
    const bool is_framed = each.middle > frame[0] && each.middle < frame[1];
    const float right = is_framed ? frame[1] + px(4) : each.middle + each.half + px(2);
    const float left = is_framed ? frame[0] - px(4) : each.middle - each.half - px(2);
    for (const float x : {right, left - extent.x}) {
      const Rectangle box = {{x, each.y}, {x + extent.x, each.y + extent.y}};
      if (crosses_frame(box)) continue;
      const bool is_inside = x >= columns.position.x && box.maximum.x <= columns.position.x + columns.size.x;
      const auto lies_over = [&](const Rectangle& bar) {
        return overlap(box, bar) && bar.maximum.y - bar.minimum.y > px(3);
      };
      if (!is_inside || std::ranges::any_of(bars, lies_over)) continue;
      draw_text(box.minimum, c.dim, each.words);
      attend_map().bar_numbers.push_back(box);
      bars.push_back(box);
      break;
    }
  }
}

/// Where the word that is read most stands, while nothing of the row is in view.
void point_to(const TimelineColumns& columns, const Session& session, const Vector<double>& weights,
              double total, Index most_read, double most, float top) {
  if (most_read < 0 || (most_read >= columns.begin() && most_read < columns.end())) return;
  const Index end = std::min<Index>(columns.end(), weights.size());
  for (Index t = columns.begin(); t < end; ++t) {
    if (t != session.token() && std::abs(weights(t)) >= least_number * most * total) return;
  }
  const style::TextStyle text(style::Text::caption);
  const std::string words =
      fmt::format("read most: {} “{}”, {}", most_read,
                  visible_label(session.data().labels[static_cast<std::size_t>(most_read)]),
                  weight_words(weights(most_read) / total, true));
  const bool is_before = most_read < columns.begin();
  const std::string shown = shortened(is_before ? "← " + words : words + " →", columns.size.x - px(16));
  attend_map().pointed.push_back(shown);
  draw_text({is_before ? columns.position.x + px(8)
                       : columns.position.x + columns.size.x - px(8) - text_extent(shown).x,
             top},
            style::colours().dim, shown);
}

void draw_floor(Application& application, ImVec2 from, ImVec2 to) {
  const Session& session = application.session;
  const style::Palette& c = style::colours();
  auto& view = context_local<TimelineView>();
  const ImVec2 position = {from.x + px(timeline_gutter - style::panel_padding), from.y};
  const ImVec2 size = {to.x - position.x, to.y - position.y};
  if (size.x < px(60) || size.y < px(80)) return;
  const TimelineColumns columns = timeline_columns(view, session, position, size);
  TimelineRows words(columns, session);
  words.groups(position.y, to.y);
  const float words_top = position.y + px(caption_height);
  words.words(words_top + px(2));
  const float bars_top = words_top + px(words_height) + px(4);
  const float height = (to.y - bars_top) / 2;
  const Known<RowOfWeights> answer = ask_row(application);
  {
    const style::TextStyle text(style::Text::caption);
    words.name(fmt::format("row {} reads", session.token()), words_top + px(2) + text_extent("x").y / 2,
               c.dim);
    words.name("this rule, %", bars_top + height / 2, c.text);
    words.name("softmax, %", bars_top + height * 1.5F, c.text);
  }
  if (answer.value) {
    const RowOfWeights& row = *answer.value;
    // The own word is often read most by far; what is drawn is scaled by the others, and it may be cut off.
    double most = 0;
    for (const ReadWord& word : row.words) most = std::max({most, std::abs(word.share), word.softmax_share});
    if (row.softmax_most >= 0) most = std::max(most, row.softmax_weights(row.softmax_most));
    if (!(most > 0)) most = 1;
    if (row.reason.empty())
      draw_bars(columns, session.token(), row.weights, row.total, most, bars_top, bars_top + height - px(6));
    draw_bars(columns, session.token(), row.softmax_weights, 1, most, bars_top + height, to.y - px(2));
    const Index most_read = row.reason.empty() && !row.words.empty() ? row.words.front().token : -1;
    point_to(columns, session, row.weights, row.total, most_read, most, bars_top);
    point_to(columns, session, row.softmax_weights, 1, row.softmax_most, most, bars_top + height);
  }
  words.cursor(position.y + px(caption_height - 2), to.y);
  ImGui::SetCursorScreenPos(position);
  ImGui::InvisibleButton("read words", size);
  scrub(application, view, columns);
  turn_wheel_over_item(view, columns, session);
}

}  // namespace

void draw_attend_floor(Application& application) {
  draw_floor_panel(application, "##attend floor", 10, 4, RowsAbove::none, [&](ImVec2 from, ImVec2 to) {
    const Session& session = application.session;
    if (session.computed() && !session.computed()->tokens.empty()) draw_floor(application, from, to);
  });
}

}  // namespace palimpsest
