#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/views/floor.h"
#include "app/views/floor_rows.h"
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
scene::Node memory_colours(double range) {
  static const Matrix<double> ramp = Vector<double>::LinSpaced(64, -1, 1).transpose();
  return scene::row(
             {scene::number(fmt::format("−{:.2g}", range), scene::dim_ink),
              scene::Node{scene::Picture{.values = &ramp, .version = 1, .look = {.grid = false}, .height = 8}}
                  .filling(),
              scene::number(fmt::format("{:.2g}", range), scene::dim_ink)},
             scene::Gap::small)
      .named("colours")
      .told("The colours of all memories and differences above: one scale for every side.");
}

using Errors = std::shared_ptr<const TokenRecalls>;

/// A side by its rule, or by what is otherwise about it where others have the same.
std::string line_name(const ComparedSide& side, const ComparedSides& all) {
  const auto has_rule = [&](const ComparedSide& other) { return other.side.variant == side.side.variant; };
  if (std::ranges::count_if(all.sides, has_rule) == 1) return side_name(side.side);
  const auto reference = std::ranges::find(all.sides, true, &ComparedSide::is_reference);
  const std::string words = otherwise(side.side, reference->side);
  return words.empty() ? side_name(side.side) : words;
}

double length_of(const Recall& recall) {
  const double length = std::sqrt(2 * recall.after);
  return std::isfinite(length) ? length : HUGE_VAL;
}

/// What is left of the error after each word; of words that share a pixel the largest. What is still to come
/// is fainter; an arrow stands where a stretch of the line leaves the axis.
void add_errors(Plot& plot, const ComparedSide& side, double full, const WordPlaces& places, Index present) {
  const std::vector<Recall>& errors = side.recall->tokens;
  const ImU32 colour = side_colour(side.index);
  const auto height = [&](double length) { return static_cast<double>(length_bar(length, full).part); };
  PlotSeries reached{.look = {.colour = colour, .width = side.is_reference ? 2.0F : 1.5F}};
  PlotSeries ahead = reached;
  ahead.name = side_name(side.side);
  ahead.look.colour = style::mix(style::colours().panel, colour, 0.45F);
  const Index end = std::min<Index>(places.end, std::ssize(errors));
  bool was_cut = false;
  for (Index t = places.begin; t < end;) {
    const Index first = t;
    double longest = 0;
    do {
      longest = std::max(longest, length_of(errors[static_cast<std::size_t>(t)]));
      ++t;
    } while (t < end && places.left(t + 1) - places.left(first) < 1);
    const double x = places.middle(first);
    const bool is_cut = length_bar(longest, full).cut;
    if (is_cut && !was_cut) {
      plot.marks.push_back(
          point_mark("beyond", x, 1, {.colour = colour, .marker = PlotMarker::up, .size = 3.5F}));
    }
    was_cut = is_cut;
    for (PlotSeries* const part : {&reached, &ahead}) {
      if (part == &reached ? first > present : t <= present) continue;
      part->x.push_back(x);
      part->y.push_back(height(longest));
    }
  }
  if (present >= places.begin && present < end)
    plot.marks.push_back(point_mark("present", places.middle(present),
                                    height(length_of(errors[static_cast<std::size_t>(present)])),
                                    {.colour = colour, .marker = PlotMarker::circle, .size = 3.5F}));
  plot.series.push_back(std::move(ahead));
  plot.series.push_back(std::move(reached));
}

/// What a line is called at its end; "Softmax attention" is known by its first word.
PlotLabel end_label(std::string words, ImU32 colour) {
  PlotLabel label{.words = {words}, .colour = colour};
  if (const std::size_t last = words.find(" attention"); last != std::string::npos)
    label.words.push_back(words.erase(last, std::string_view(" attention").size()));
  return label;
}

/// The scale of all lines, kept while they stay the same.
LengthScale compared_scale(const ComparedSides& all) {
  struct Known {
    std::vector<Errors> of;
    LengthScale scale;
  };
  auto& known = context_local<Known>();
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

Plot compared_errors_plot(const ComparedSides& all, const LengthScale& scale, const WordPlaces& places,
                          Index present) {
  Plot plot{.name = "errors",
            .x = {.high = places.width, .has_round = false},
            .y = {.has_round = false},
            .labels = Plot::Labels::beside,
            .is_area = true};
  for (const ComparedSide& side : all.sides) {
    if (!side.recall) continue;
    const ImU32 colour = side_colour(side.index);
    if (side.recall->tokens.empty()) {
      plot.series.push_back({.name = side_name(side.side),
                             .x = {places.width},
                             .y = {0},
                             .look = {.colour = colour},
                             .label = end_label(side_name(side.side) + ": no error", colour)});
      continue;
    }
    add_errors(plot, side, scale.full, places, present);
    PlotSeries& ends =
        plot.series[plot.series.size() - (plot.series[plot.series.size() - 2].x.empty() ? 1 : 2)];
    ends.label = end_label(line_name(side, all), colour);
  }
  return plot;
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
  scene::show_at(memory_colours(all.range), {{to.x + px(12), from.y}, {to.x + px(labels_width), lower.y}});
}

}  // namespace

void draw_compare_floor(Application& application) {
  draw_floor_panel(application, "##compare floor", 10, 4, RowsAbove::none,
                   [&](ImVec2 from, ImVec2 to) { draw_compared_errors(application, from, to); });
}

}  // namespace palimpsest
