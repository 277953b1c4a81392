// The errors that are left on the sides of Compare, word by word, as a plot.

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/session/compared_sides.h"
#include "app/views/compare.h"
#include "app/widgets/style.h"

namespace palimpsest {

namespace {

using Errors = std::shared_ptr<const RecallOfTokens::Value>;

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

}  // namespace

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

}  // namespace palimpsest
