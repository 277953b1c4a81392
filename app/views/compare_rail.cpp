#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/scene/plot.h"
#include "app/session/compared_sides.h"
#include "app/studio/command.h"
#include "app/views/compare.h"
#include "core/variants/rail.h"

// The rail of Compare: rules in a row, and between them what leads from one to the next.

namespace palimpsest {

namespace {

using scene::Fit;
using scene::Node;
using scene::Nodes;

constexpr float buttons_width = 132;  // design pixels
constexpr float track_height = 26;
constexpr double near_a_stop = 0.06;  // the handle stays at it
constexpr double caught = 0.3;        // how near a side the pointer must be

/// The side that is dragged.
struct DraggedSide {
  std::optional<std::size_t> index;
};

void move_side(Application& application, std::size_t index, double place, std::string_view merge_key) {
  const SessionState& state = application.session.state();
  const Side moved = moved_on_rail(compared_sides(state)[index], place);
  SessionState next = with_side_as(state, index, moved);
  next.compare.handle = index;
  if (!(next == state)) application.session.change(std::move(next), merge_key);
}

bool is_shown(const ComparedSides& all, std::size_t stop) {
  return std::ranges::any_of(all.sides, [&](const ComparedSide& side) {
    return place_on_rail(side.side) == static_cast<double>(stop);
  });
}

/// The name of a stop; a click brings the handle there.
Node stop_name(Application& application, const ComparedSides& all, std::size_t stop) {
  const RailStop& each = rail()[stop];
  const auto written = [&](style::Text style, Fit fit) {
    return Node{scene::Text{.words = each.name,
                            .style = style,
                            .ink = is_shown(all, stop) ? 0 : scene::dim_ink,
                            .fit = fit,
                            .centred = true}};
  };
  const style::Text usual = is_shown(all, stop) ? style::Text::strong : style::Text::body;
  const std::size_t handle = std::ranges::find(all.sides, true, &ComparedSide::has_handle)->index;
  return scene::first_that_fits({written(usual, Fit::whole), written(style::Text::caption, Fit::shorten)})
      .named(each.variant)
      .told(fmt::format("Bring the handle here: {}.", each.words))
      .on([&application, handle, stop] { move_side(application, handle, static_cast<double>(stop), {}); })
      .filling();
}

Node stop_words(const ComparedSides& all, std::size_t stop) {
  return Node{scene::Text{.words = rail()[stop].words,
                          .style = style::Text::caption,
                          .ink = is_shown(all, stop) ? 0 : scene::dim_ink,
                          .most_lines = 2,
                          .centred = true}}
      .named(fmt::format("{} words", rail()[stop].variant))
      .filling();
}

/// The stops on their line, and on it the sides where they are; the one with the handle on top.
Plot track_plot(const ComparedSides& all) {
  const style::Palette& c = style::colours();
  const auto last = static_cast<double>(rail().size() - 1);
  Plot plot{.name = "track",
            .x = {.low = -0.5, .high = last + 0.5, .has_round = false, .has_grid = false},
            .y = {.low = -1, .high = 1, .has_round = false, .has_grid = false},
            .is_area = true};
  plot.presses = true;
  plot.marks.push_back(line_mark(0, 0, last, 0, {.colour = c.edge, .width = style::lit_line}));
  for (std::size_t stop = 0; stop < rail().size(); ++stop)
    plot.marks.push_back(
        point_mark(fmt::format("stop {}", stop), static_cast<double>(stop), 0,
                   {.colour = c.dim, .width = style::lit_line, .marker = PlotMarker::ring, .size = 5}));
  for (const bool has_handle : {false, true}) {
    for (const ComparedSide& side : all.sides) {
      const std::optional<double> place = place_on_rail(side.side);
      if (!place || side.has_handle != has_handle) continue;
      PlotMark mark = point_mark(has_handle ? "handle" : fmt::format("side {}", side.index), *place, 0,
                                 {.colour = side_colour(side.index),
                                  .marker = has_handle ? PlotMarker::handle : PlotMarker::circle,
                                  .size = has_handle ? 11.0F : 5.0F});
      mark.tip =
          fmt::format("{} {}", rail_sentence(*place),
                      has_handle ? "Drag it along the rail, or press , and ." : "Drag it along the rail.");
      plot.marks.push_back(std::move(mark));
    }
  }
  return plot;
}

/// The side that is nearest to a place of the rail, if one is near.
std::optional<std::size_t> side_near(const SessionState& state, double place) {
  std::optional<std::size_t> nearest;
  double least = caught;
  const std::vector<Side> sides = compared_sides(state);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::optional<double> at = place_on_rail(sides[i]);
    const bool is_first = i == handle_side(state);  // it lies on top
    if (!at || !(std::abs(*at - place) < least || (is_first && std::abs(*at - place) < caught))) continue;
    nearest = i;
    least = is_first ? 0 : std::abs(*at - place);
  }
  return nearest;
}

/// Drags a side; one that is only pressed gets the handle.
void drag_side(Application& application, const PlotDone& done) {
  auto& dragged = context_local<DraggedSide>().index;
  Session& session = application.session;
  if (done.begins && done.at) dragged = side_near(session.state(), done.at->x);
  if (!dragged) return;
  if (done.active && done.at && done.moved.x != 0) {
    const double place = std::clamp(done.at->x, 0.0, static_cast<double>(rail().size() - 1));
    const double stop = std::round(place);
    move_side(application, *dragged, std::abs(place - stop) < near_a_stop ? stop : place, "rail");
  }
  if (!done.ends) return;
  session.end_merge();
  SessionState next = session.state();
  next.compare.handle = *dragged;
  if (!(next == session.state())) session.change(std::move(next));
  dragged.reset();
}

/// Another side, and which memory is shown.
Node buttons(Application& application) {
  Node add = scene::pill("+ a side").named("add");
  const std::string refusal = why_not(find_command(application, "compare.add"), application);
  add = std::move(add).enabled_if(refusal.empty()).told(refusal).on([&application] {
    perform(find_command(application, "compare.add"), application);
  });
  const auto show = [&application](std::size_t chosen) {
    SessionState next = application.session.state();
    next.compare.before = chosen == 0;
    application.session.change(std::move(next));
  };
  return scene::column(
      {std::move(add),
       scene::segments({"before", "after"}, application.session.state().compare.before ? 0 : 1, show,
                       "The memory as the word finds it, or as it leaves it.")});
}

}  // namespace

scene::Node rail_node(Application& application, const ComparedSides& all) {
  Nodes names;
  Nodes words;
  for (std::size_t stop = 0; stop < rail().size(); ++stop) {
    names.push_back(stop_name(application, all, stop));
    words.push_back(stop_words(all, stop));
  }
  const auto drag = [&application](const PlotDone& done) { drag_side(application, done); };
  return Node{scene::Row{
      .nodes = {scene::column(
                    {scene::row(std::move(names), scene::Gap::none),
                     scene::plotted(track_plot(all), drag).fixed(track_height),
                     Node{scene::Row{.nodes = std::move(words), .gap = scene::Gap::none, .on_top = true}}},
                    scene::Gap::hair)
                    .filling(),
                buttons(application).fixed(buttons_width)},
      .gap = scene::Gap::near}};
}

}  // namespace palimpsest
