#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float labels_width = 128;  // right of the words: whose line ends there
constexpr float label_height = 15;

using Errors = std::shared_ptr<const RecallOfTokens::Value>;

/// The scale of all lines, kept while they stay the same.
LengthScale scale_of(const ComparedSides& all) {
  struct KnownScale {
    std::vector<Errors> of;
    LengthScale scale;
  };
  auto& known = context_local<KnownScale>();
  std::vector<Errors> present;
  for (const ComparedSide& side : all.sides) present.push_back(side.recall);
  if (known.of == present) return known.scale;
  std::vector<double> lengths;
  for (const Errors& errors : present) {
    if (!errors) continue;
    for (const Recall& recall : errors->tokens) lengths.push_back(std::sqrt(2 * recall.after));
  }
  known = {std::move(present), length_scale(std::move(lengths))};
  return known.scale;
}

/// What is left of the error after each word, as a line; of words that share a pixel the largest. Returns the
/// height at which it ends in sight.
float draw_line(const FloorColumns& columns, const std::vector<Recall>& errors, double full, float top,
                float bottom, Index present, ImU32 colour, bool is_wide) {
  const auto y = [&](double length) { return bottom - (bottom - top) * length_bar(length, full).part; };
  std::vector<ImVec2> reached;
  std::vector<ImVec2> ahead;
  std::vector<std::pair<int, float>> cut;  // points beyond the axis: which, and where
  const Index end = std::min<Index>(columns.end(), std::ssize(errors));
  float last = bottom;
  int point = 0;
  for (Index t = columns.begin(); t < end;) {
    const float x = (columns.left(t) + columns.left(t + 1)) / 2;
    double longest = 0;
    ++point;
    const Index first = t;
    do {
      const double length = std::sqrt(2 * errors[static_cast<std::size_t>(t)].after);
      longest = std::isfinite(length) ? std::max(longest, length) : HUGE_VAL;
      ++t;
    } while (t < end && columns.left(t + 1) - columns.left(first) < 1);
    last = y(longest);
    if (length_bar(longest, full).cut) cut.emplace_back(point, x);
    if (first <= present) reached.push_back({x, last});
    if (t > present) ahead.push_back({x, last});
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < cut.size(); ++i) {  // one arrow for each stretch
    if (i > 0 && cut[i].first == cut[i - 1].first + 1) continue;
    const float x = cut[i].second;
    list->AddTriangleFilled({x, top - px(5)}, {x - px(4), top + px(1)}, {x + px(4), top + px(1)}, colour);
  }
  const float width = px(is_wide ? 2.0F : 1.5F);
  const auto draw = [&](const std::vector<ImVec2>& points, ImU32 ink) {
    list->AddPolyline(points.data(), static_cast<int>(points.size()), ink, width);
  };
  draw(ahead, style::mix(style::colours().panel, colour, 0.45F));
  draw(reached, colour);
  if (present >= columns.begin() && present < end)
    list->AddCircleFilled({(columns.left(present) + columns.left(present + 1)) / 2,
                           y(std::sqrt(2 * errors[static_cast<std::size_t>(present)].after))},
                          px(3.5F), colour);
  return last;
}

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

/// Whose line ends where, each beside its end or as near as the others let it.
struct LineLabel {
  std::string words;
  ImU32 colour;
  float y;
};

/// A side by its rule, or by what is otherwise about it where others have the same.
std::string line_name(const ComparedSide& side, const ComparedSides& all) {
  const auto has_rule = [&](const ComparedSide& other) { return other.side.variant == side.side.variant; };
  if (std::ranges::count_if(all.sides, has_rule) == 1) return side_name(side.side);
  const auto reference = std::ranges::find(all.sides, true, &ComparedSide::is_reference);
  const std::string words = otherwise(side.side, reference->side);
  return words.empty() ? side_name(side.side) : words;
}

void draw_labels(std::vector<LineLabel> labels, float left, float width, float top, float bottom) {
  const style::TextStyle text(style::Text::caption);
  std::ranges::stable_sort(labels, {}, &LineLabel::y);
  const float height = std::min(px(label_height),
                                (bottom - top) / static_cast<float>(std::max<std::size_t>(labels.size(), 1)));
  float free = top;
  for (LineLabel& label : labels) {
    label.y = std::max(label.y - height / 2, free);
    free = label.y + height;
  }
  float end = bottom;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->y = std::min(label->y, end - height);
    end = label->y;
  }
  for (const LineLabel& label : labels) {
    std::string shown = label.words;
    // "Softmax attention" is known by its first word.
    if (const std::size_t last = shown.find(" attention");
        last != std::string::npos && text_extent(shown).x > width)
      shown.erase(last, std::string_view(" attention").size());
    shown = shortened(shown, width);
    draw_text({left, label.y}, label.colour, shown);
    compare_map().labels.push_back({{left, label.y}, {left + text_extent(shown).x, label.y + height}});
  }
}

/// The line of every side, and what stands where it ends.
std::vector<LineLabel> draw_side_lines(const ComparedSides& all, const LengthScale& scale,
                                       const FloorColumns& columns, const Rectangle& place, Index present) {
  std::vector<LineLabel> labels;
  const float bottom = place.maximum.y;
  for (const ComparedSide& side : all.sides) {
    const ImU32 colour = side_colour(side.index);
    if (side.recall && !side.recall->tokens.empty()) {
      const float end = draw_line(columns, side.recall->tokens, scale.full, place.minimum.y, bottom, present,
                                  colour, side.is_reference);
      labels.push_back({line_name(side, all), colour, end});
    } else if (side.recall) {
      labels.push_back({side_name(side.side) + ": no error", colour, bottom});
    }
  }
  return labels;
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
  const LengthScale scale = scale_of(all);
  std::vector<LineLabel> labels;
  Floor floor = floor_of(session, "errors");
  floor.rows = {captions_row(), words_row(), lines_row(scale)};
  floor.rows.back().draw = [&](const FloorColumns& over, const Rectangle& place) {
    labels = draw_side_lines(all, scale, over, place, session.token());
  };
  show_floor(application, floor, *columns);
  const Part* lines = floor_part("errors");
  if (!lines) return;
  const auto [upper, lower] = lines->where;
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({from.x, upper.y}, {upper.x, lower.y}))
    tooltip_beside({from.x, upper.y}, {upper.x, lower.y}, axis_explained(scale));
  draw_scale({to.x + px(12), from.y}, px(labels_width - 12), all.range);
  draw_labels(std::move(labels), to.x + px(12), px(labels_width - 12), upper.y - px(6), to.y);
}

}  // namespace

void draw_compare_floor(Application& application) {
  compare_map().labels.clear();
  draw_floor_panel(application, "##compare floor", 10, 4, RowsAbove::none,
                   [&](ImVec2 from, ImVec2 to) { draw_compared_errors(application, from, to); });
}

}  // namespace palimpsest
