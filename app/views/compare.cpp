#include "app/views/compare.h"

#include "app/views/answers.h"
#include "app/views/floor.h"
#include "app/views/line_looks.h"
#include "app/views/story_page.h"
#include "app/widgets/chart.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

// In design pixels.
constexpr float rail_height = 88;
constexpr float buttons_width = 132;
constexpr float track_height = 24;
constexpr float labels_width = 128;  // right of the tokens: the labels at the ends of lines

constexpr ImVec2 largest_cell_beside = {108, 64};
constexpr float picture_sides[] = {256, 208, 152, 96, 0};

constexpr double most_times = 3;  // times the reference's range: a larger memory has its own scale

constexpr double near_a_stop = 0.06;  // the handle stays at it
constexpr double caught = 0.3;        // how near a side the pointer must be

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
      .told(fmt::format("Move the handle here: {}.", each.words))
      .on([&application, handle, stop] { move_side(application, handle, static_cast<double>(stop), {}); })
      .filling();
}

Node stop_words(const ComparedSides& all, std::size_t stop) {
  return Node{scene::Text{.words = rail()[stop].words,
                          .style = style::Text::caption,
                          .ink = is_shown(all, stop) ? 0 : scene::dim_ink,
                          .most_lines = 2,
                          .centred = true,
                          .between = 1}}
      .named(fmt::format("{} label", rail()[stop].variant))
      .filling();
}

/// The rail's stops on a line, and the sides at their places; the one with the handle on top.
Plot track_plot(const ComparedSides& all) {
  const style::Palette& c = style::colours();
  const auto last = static_cast<double>(rail().size() - 1);
  Plot plot{.name = "track",
            .x = {.low = -0.5, .high = last + 0.5, .has_round = false, .has_grid = false},
            .y = {.low = -1, .high = 1, .has_round = false, .has_grid = false},
            .presses = true,
            .is_area = true};
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
                                 {.colour = rule_colour(side.side.variant),
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

/// The side nearest to a place on the rail, within `caught`.
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

/// Drags a side; a side that is only pressed gets the handle.
void drag_side(Application& application, const PlotDone& done) {
  auto& dragged = context_local<std::optional<std::size_t>, struct DraggedSide>();
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
  session.change([&](SessionState& state) { state.compare.handle = *dragged; });
  dragged.reset();
}

Node buttons(Application& application) {
  Node add = scene::pill("+ side").named("add");
  const std::string refusal = why_not(find_command(application, "compare.add"), application);
  add = std::move(add).enabled_if(refusal.empty()).told(refusal).on([&application] {
    perform(find_command(application, "compare.add"), application);
  });
  return scene::column(
      {std::move(add),
       field_choice(application.session, &SessionState::compare, &CompareView::before,
                    {{"before", true}, {"after", false}}, "The memory before or after this token.")});
}

Node rail_node(Application& application, const ComparedSides& all) {
  Nodes names;
  Nodes words;
  for (std::size_t stop = 0; stop < rail().size(); ++stop) {
    names += stop_name(application, all, stop);
    words += stop_words(all, stop);
  }
  const auto drag = [&application](const PlotDone& done) { drag_side(application, done); };
  return scene::row({scene::column({scene::row(std::move(names), Gap::none),
                                    scene::plotted(track_plot(all), drag).fixed(track_height),
                                    scene::top_row(std::move(words), Gap::none)},
                                   Gap::hair)
                         .filling(),
                     buttons(application).fixed(buttons_width)});
}

/// The session computes the side that is stepped through; the others are requested as questions.
void ask_computed(Application& application, ComparedSide& side) {
  Session& session = application.session;
  if (side.index == 0) {
    side.computed = session.computed();
    side.is_old = session.computing() && !(static_cast<const Side&>(side.computed->choice) == side.side);
    return;
  }
  const auto answer =
      ask(session, computed_side(session.computed()->data, choice_of(session.state(), side.side), side.index,
                                 session.devices()));
  side.computed = answer.value;
  side.is_old = answer.stale;
  side.reason = answer.reason;
}

void ask_moment(Application& application, ComparedSide& side, const std::shared_ptr<const Computation>& of,
                Index token) {
  Session& session = application.session;
  const auto answer =
      ask(session,
          SideAtWord{
              {side.computed}, {of}, {session.computed()}, token, asked_choice(session).words, side.index});
  side.moment = answer.value;
  side.is_old = side.is_old || answer.stale;
  if (!answer.value && !answer.under_way) side.reason = answer.reason;
  const auto errors = ask(session, RecallOfTokens{{side.computed}});
  // An old line, or one of an old side, belongs to another text if its number of tokens differs.
  const auto tokens = static_cast<std::size_t>(session.computed()->sequence.tokens);
  if (errors.value && (errors.value->tokens.empty() || errors.value->tokens.size() == tokens))
    side.recall = errors.value;
}

/// The log axis of all lines: the errors of one rule may be a hundredth of another's.
struct ErrorAxis {
  double low = 0.05;
  double high = 50;
  double largest = 0;  // of the finite errors
};

std::string axis_explained(const ErrorAxis& axis) {
  const std::string what =
      "The norm ‖v − v̂‖ of the error that is left after each token's write, one line for every side. "
      "Logarithmic axis";
  if (!(axis.largest > axis.high)) return what + ".";
  return fmt::format("{} up to {}; the largest is {}. An arrow marks where a line leaves the chart.", what,
                     plain_number(axis.high), plain_number(axis.largest));
}

Node memory_colours(double range) {
  return scene::row({scene::number("−" + plain_number(range, 2), scene::dim_ink),
                     scene::colour_ramp(8).filling(), scene::number(plain_number(range, 2), scene::dim_ink)},
                    Gap::small)
      .named("colours")
      .told("The colours of all memories and differences above: one scale for every side.");
}

using Errors = std::shared_ptr<const TokenRecalls>;

/// The name of a side: its rule, or what else differs if others have the same rule.
std::string line_name(const ComparedSide& side, const ComparedSides& all) {
  const auto has_rule = [&](const ComparedSide& other) { return other.side.variant == side.side.variant; };
  if (std::ranges::count_if(all.sides, has_rule) == 1) return side_name(side.side);
  const std::string words = otherwise(side.side, all.reference().side);
  return words.empty() ? side_name(side.side) : words;
}

double norm_of(const Recall& recall) {
  const double norm = error_norm(recall.after);
  return std::isfinite(norm) ? norm : HUGE_VAL;
}

/// The error after each token's write; for tokens that share a pixel the largest. Tokens after the present
/// one are fainter; an arrow marks where the line leaves the axis.
void add_errors(Plot& plot, const ComparedSide& side, const PlotLook& look, const ErrorAxis& axis,
                const WordPlaces& places, Index present) {
  const std::vector<Recall>& errors = side.recall->tokens;
  PlotSeries reached{.look = look};
  reached.look.width = side.is_reference ? 2.0F : 1.5F;
  PlotSeries ahead = reached;
  ahead.name = side_name(side.side);
  ahead.look.colour = style::mix(style::colours().panel, look.colour, 0.45F);
  const Index end = std::min<Index>(places.end, std::ssize(errors));
  bool was_cut = false;
  for (Index t = places.begin; t < end;) {
    const Index first = t;
    double largest = 0;
    do {
      largest = std::max(largest, norm_of(entry(errors, t)));
      ++t;
    } while (t < end && places.left(t + 1) - places.left(first) < 1);
    const double x = places.middle(first);
    const bool is_cut = largest > axis.high;
    if (is_cut && !was_cut) {
      plot.marks.push_back(point_mark("beyond", x, axis.high,
                                      {.colour = look.colour, .marker = PlotMarker::up, .size = 3.5F}));
    }
    was_cut = is_cut;
    const double y = std::clamp(largest, axis.low, axis.high);
    if (first <= present) reached.add(x, y);
    if (t > present) ahead.add(x, y);
  }
  if (present >= places.begin && present < end)
    plot.marks.push_back(point_mark("present", places.middle(present),
                                    std::clamp(norm_of(entry(errors, present)), axis.low, axis.high),
                                    {.colour = look.colour, .marker = PlotMarker::circle, .size = 3.5F}));
  plot.series.push_back(std::move(ahead));
  plot.series.push_back(std::move(reached));
}

/// The label at the end of a line; "Softmax attention" is shortened to its first word.
PlotLabel end_label(std::string words, ImU32 colour) {
  PlotLabel label{.words = {words}, .colour = colour};
  if (const std::size_t last = words.find(" attention"); last != std::string::npos)
    label.words.push_back(words.erase(last, std::string_view(" attention").size()));
  return label;
}

/// The largest of …, 1, 2, 5, 10, … that does not exceed a number.
double round_below(double number) {
  const double power = std::pow(10, std::floor(std::log10(number)));
  for (const double step : {5.0, 2.0}) {
    if (step * power <= number * (1 + 1e-9)) return step * power;
  }
  return power;
}

/// The axis of all lines: at most three decades, and an end that few errors exceed.
ErrorAxis axis_of(const std::vector<Errors>& all) {
  constexpr double decades = 1000;
  constexpr double most_over_usual = 30;  // times the 95 % quantile: larger errors leave the axis
  std::vector<double> norms;
  for (const Errors& errors : all) {
    if (!errors) continue;
    for (const Recall& recall : errors->tokens) norms.push_back(norm_of(recall));
  }
  std::erase_if(norms, [](double norm) { return !std::isfinite(norm) || norm == 0; });
  if (norms.empty()) return {};
  ErrorAxis axis{.largest = std::ranges::max(norms)};
  axis.high = round_above(std::min(axis.largest, most_over_usual * quantile(norms, 0.95)));
  axis.low = round_below(std::max(std::ranges::min(norms), axis.high / decades));
  if (axis.low >= axis.high) axis.low = axis.high / 10;
  return axis;
}

/// The same, kept while the lines stay the same.
const ErrorAxis& error_axis(const ComparedSides& all) {
  const std::vector<Errors> present = made_of(all.sides, &ComparedSide::recall);
  return kept_for(present, [&] { return axis_of(present); });
}

/// The look of a side's line: the colour of its rule, dashed if a side further left has the same rule.
PlotLook side_look(const ComparedSides& all, const ComparedSide& side) {
  static constexpr float dashes[] = {0, 9, 5, 2};
  const ImU32 colour = rule_colour(side.side.variant);
  std::size_t before = 0;
  for (const ComparedSide& other : all.sides) {
    if (&other == &side) break;
    before += rule_colour(other.side.variant) == colour ? 1 : 0;
  }
  return {.colour = colour, .dash = dashes[std::min(before, std::size(dashes) - 1)]};
}

Plot compared_errors_plot(const ComparedSides& all, const ErrorAxis& axis, const WordPlaces& places,
                          Index present) {
  Plot plot{.name = "errors",
            .x = {.high = places.width, .has_round = false},
            .y = {.scale = PlotAxis::Scale::log10,
                  .low = axis.low,
                  .high = axis.high,
                  .words = [](double number) { return plain_number(number); }},
            .labels = Plot::Labels::beside,
            .is_area = true};
  for (const ComparedSide& side : all.sides) {
    if (!side.recall) continue;
    const PlotLook look = side_look(all, side);
    if (side.recall->tokens.empty()) {
      plot.series.push_back({.name = side_name(side.side),
                             .x = {places.width},
                             .y = {axis.low},
                             .look = look,
                             .label = end_label(side_name(side.side) + ": no error", look.colour)});
      continue;
    }
    add_errors(plot, side, look, axis, places, present);
    PlotSeries& ends =
        plot.series[plot.series.size() - (plot.series[plot.series.size() - 2].x.empty() ? 1 : 2)];
    ends.label = end_label(line_name(side, all), look.colour);
  }
  return plot;
}

FloorRow lines_row(const ErrorAxis& axis) {
  const style::Palette& c = style::colours();
  FloorRow row{.name = "errors", .kind = FloorRow::Kind::own, .above = 6, .below = 3};
  row.label = {.lines = {{.words = "error left", .colour = c.error}}, .left = true};
  if (axis.largest > axis.high)  // the maximum of lines that leave the axis
    row.label.lines.push_back({.words = "max " + plain_number(axis.largest), .colour = c.dim});
  return row;
}

/// The rule to compare with: one that only adds; or, for linear attention, one that erases.
std::string beside(const std::string& variant) {
  return without_strength(variant) == "linear" ? "deltanet" : "linear";
}

Node two_rules(Application& application, const MemoryStory& other, const MemoryStory& own,
               const std::string& other_name, bool has_same_strength) {
  const Computation& computed = *application.session.computed();
  const auto tables = [&, label = computed.variant->label](float picture) {
    CellTables cells = story_cells(own);
    cells.most_cell = largest_cell_beside;
    cells.scale = std::max(answer_scale(other.table), answer_scale(own.table));
    cells.tables = {story_table(other, own.keys, "beside", {other_name}, other.table.after),
                    story_table(own, own.keys, "own", {label}, own.table.after)};
    cells.picture = picture;
    const double common = std::max(other.range, own.range);
    for (const auto& [table, story] : {std::pair(&cells.tables[0], &other), {&cells.tables[1], &own}}) {
      const bool is_own = story->range < least_part * common;
      table->picture = {
          .values = story->after.size() > 0 ? &story->after : nullptr,
          .version = story->version,
          .look = {.range = static_cast<float>(is_own ? story->range : common), .grid = false},
          .words = is_own ? fmt::format("what it returns; own scale ±{}", plain_number(story->range, 2))
                          : "what it returns"};
    }
    return scene::centred(Node{std::move(cells)}.named("answers"));
  };
  Nodes wishes;
  for (const float picture : picture_sides) wishes += tables(picture);
  return story_page(
      application,
      {.headline = compare_headline({std::pair(other_name, &other), {computed.variant->label, &own}}),
       .question = "What do the two rules say?",
       .about = fmt::format(
           "Both rules have read the same tokens, up to {}{}. A row is a key; its cells say how "
           "much of each value its memory returns.",
           quoted_word(computed, own.token), has_same_strength ? ", and write with the same strength β" : ""),
       .content = scene::first_that_fits(std::move(wishes))});
}

}  // namespace

std::string side_name(const Side& side) {
  const std::optional<double> place = place_on_rail(side);
  if (place && *place == std::floor(*place)) return entry(rail(), *place).name;
  return find_variant(side.variant).label;
}

ComparedSides compared(Application& application) {
  const SessionState& state = application.session.state();
  const std::vector<Side> sides = compared_sides(state);
  const std::size_t reference = reference_side(state);
  const std::size_t handle = handle_side(state);
  ComparedSides all;
  for (const std::size_t index : column_order(state)) {
    ComparedSide& side =
        all.sides.emplace_back(ComparedSide{.index = index,
                                            .side = sides[index],
                                            .same_as = same_further_left(state, all.sides.size()),
                                            .is_reference = index == reference,
                                            .has_handle = index == handle,
                                            .can_take_beta = can_take_beta(state, sides[index])});
    ask_computed(application, side);
  }
  const auto of = all.reference().computed;
  const Index token = application.session.token();
  for (ComparedSide& side : all.sides) {
    const bool is_there =
        side.computed && of && token < side.computed->sequence.tokens && token < of->sequence.tokens;
    if (is_there) ask_moment(application, side, of, token);
  }
  const auto range_of = [](const ComparedSide& side) { return side.moment ? side.moment->range : 0.0; };
  const double own = range_of(all.reference());
  double largest = own;
  for (const double range : all.sides | std::views::transform(range_of))
    if (own == 0 || range <= most_times * own) largest = std::max(largest, range);
  if (largest > 0) all.range = largest;
  const auto is_asked = [](const ComparedSide& side) {
    return side.moment && !side.moment->table.words.empty();
  };
  if (const auto asked = std::ranges::find_if(all.sides, is_asked); asked != all.sides.end())
    name_words(asked_tokens(asked->moment->table));
  return all;
}

void draw_compare(Application& application) {
  const std::string nothing = nothing_to_show(application, ": there is nothing to compare");
  if (nothing.empty()) {
    const ComparedSides all = compared(application);
    Node rail = {scene::Sides{{scene::column({rail_node(application, all)})}}};
    scene::show(scene::column({std::move(rail).named("rail").fixed(rail_height),
                               side_columns(application, all).named("sides").filling()}));
  } else {
    scene::show_panel("##side by side", true, [&] { return scene::paragraph(nothing); });
  }
}

void draw_compare_floor(Application& application) {
  const FloorPanel panel = {.name = "errors", .beside = labels_width};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    const ComparedSides all = compared(application);
    const ErrorAxis& axis = error_axis(all);
    floor.rows = {captions_row(), words_row(), lines_row(axis)};
    floor.rows.back().draw = [&](const FloorColumns& over, const Rectangle& place) {
      Plot plot = compared_errors_plot(all, axis, word_places(over), application.session.token());
      plot.beside = labels_width;
      draw_over_words(plot, place);
    };
    show_floor(application, floor, places.columns);
    if (const Part* lines = floor_part("errors"))
      scene::show_at(
          scene::column({scene::rest().told(axis_explained(axis))}),
          {{places.left, lines->where.minimum.y}, {lines->where.minimum.x, lines->where.maximum.y}});
    scene::show_at(
        scene::row({scene::space(Gap::none).fixed(12), memory_colours(all.range).filling()}, Gap::none),
        places.beside);
  });
}

void draw_compare_story(Application& application) {
  Known<MemoryStory> own;
  Known<MemoryStory> other;
  scene::show_panel("##compare story", true, [&]() -> Node {
    if (const std::string nothing = nothing_to_show(application, ": there is nothing to compare");
        !nothing.empty())
      return scene::paragraph(nothing);
    Session& session = application.session;
    const auto computed = session.computed();
    const Side side{.variant = beside(computed->variant->id)};
    const auto shown = ask(session, computed_side(computed->data, choice_of(session.state(), side),
                                                  most_sides, session.devices()));
    own = ask_story(application, computed);
    if (shown.value && own.value) other = ask_story(application, shown.value, own.value.get());
    if (own.value && other.value && own.value->table.words.size() == other.value->table.words.size())
      return two_rules(application, *other.value, *own.value, find_variant(side.variant).label,
                       can_take_beta(session.state(), side))
          .named("story");
    for (const std::string& reason : {own.reason, shown.reason, other.reason}) {
      if (!reason.empty()) return story_without(application, reason);
    }
    return scene::paragraph("Querying both memories …");
  });
}

}  // namespace palimpsest
