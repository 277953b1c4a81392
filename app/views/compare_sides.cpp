#include "app/views/compare.h"
#include "app/views/line_looks.h"
#include "core/base/text.h"

// The controls of the sides of Compare: the rail, which shows rules and what leads from one to the next, and
// the menu of a side.

namespace palimpsest {

namespace {

constexpr float buttons_width = 132;  // design pixels
constexpr float track_height = 24;
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
  const auto show = [&session = application.session](std::size_t chosen) {
    session.change([chosen](SessionState& state) { state.compare.before = chosen == 0; });
  };
  return scene::column({std::move(add), scene::segments({"before", "after"},
                                                        application.session.state().compare.before ? 0 : 1,
                                                        show, "The memory before or after this token.")});
}

constexpr float rules_width = 240;  // design pixels
constexpr float list_height = 340;

/// The menu of a side; every line changes the side.
class SideMenu {
 public:
  SideMenu(Application& application, const ComparedSide& side) : application_(application), compared_(side) {}

  Node content() {
    Nodes rules = {scene::caption("Rule")};
    for (const Variant& variant : variants()) add_rule(rules, variant);
    add_forms();
    add_precisions();
    add_devices();
    add_settings();
    if (compared_.index > 0) add_sliders();
    return scene::column(
        {scene::top_row(
             {scene::scroll("rules", scene::column(std::move(rules), Gap::tight)).fixed(rules_width),
              scene::scroll("how", scene::column(std::move(how_), Gap::tight)).filling()},
             Gap::wide)
             .fixed(list_height)});
  }

 private:
  const Side& side() const { return compared_.side; }
  const Computation* computed() const { return compared_.computed.get(); }

  using Change = std::function<void(Side&)>;

  std::function<void(const Change&)> changes() const {
    return [&application = application_, side = side(), index = compared_.index](const Change& change) {
      Side next = side;
      change(next);
      if (next == side) return;
      application.session.change(with_side_as(application.session.state(), index, std::move(next)),
                                 "side menu");
    };
  }

  std::function<void()> act(Change change) const {
    return [apply = changes(), change = std::move(change)] { apply(change); };
  }

  /// A line to choose, unless there is a reason why not.
  void add(const std::string& words, bool is_chosen, Change change, const std::string& reason = {}) {
    how_.push_back(
        scene::choice(words, is_chosen).on(act(std::move(change))).enabled_if(reason.empty()).told(reason));
  }

  void add_rule(Nodes& rules, const Variant& variant) const {
    const bool is_chosen = variant.id == side().variant;
    Node line = scene::choice(variant.label, is_chosen)
                    .named(variant.id)
                    .told(variant.words)
                    .on(act([id = variant.id](Side& next) {
                      if (next.variant != id) next.settings = {};
                      next.variant = id;
                    }));
    rules.push_back(is_chosen ? scene::column({std::move(line)}).revealed_for(variant.id) : std::move(line));
  }

  void add_forms() {
    how_.push_back(scene::caption("Form"));
    for (const Form form : all_forms)
      add(
          std::string(name(form)), side().form == form, [form](Side& next) { next.form = form; },
          computed() ? computed()->form(form).missing : std::string());
    if (!has_chunks(side().form)) return;
    for (const Index chunk : {side().chunk_size / 2, side().chunk_size * 2}) {
      if (chunk >= 1 && (!computed() || chunk <= largest_chunk(computed()->sequence.tokens)))
        add(fmt::format("chunks of {}", chunk), false, [chunk](Side& next) { next.chunk_size = chunk; });
    }
  }

  void add_precisions() {
    how_.push_back(scene::caption("Precision"));
    const Backend& device = find_backend(side().device, application_.session.devices());
    for (const Precision precision : all_precisions)
      add(
          std::string(name(precision)), side().precision == precision,
          [precision](Side& next) { next.precision = precision; }, why_not_in(device, precision));
  }

  void add_devices() {
    how_.push_back(scene::caption("Device"));
    for (const Backend* device : application_.session.devices())
      add(
          std::string(device->name()), side().device == device->name(),
          [name = std::string(device->name())](Side& next) { next.device = name; },
          application_.session.why_not_on(*device, side().form, computed()));
  }

  /// The rule's options and its integer or bounded parameters.
  void add_settings() {
    const Variant& variant = find_variant(side().variant);
    for (const Option& option : variant.options) {
      how_.push_back(scene::caption(option.name));
      const std::string* const given = value_at(side().settings.options, option.name);
      for (const std::string& value : option.values) {
        add(value, value == (given ? *given : option.values.front()),
            [option = option.name, value](Side& next) { next.settings.options[option] = value; });
        how_.back().name = option.name + " " + value;
      }
    }
    for (const Parameter& parameter : all_parameters(variant)) add_number(parameter);
  }

  void add_number(const Parameter& parameter) {
    double value = parameter.standard.value_or(parameter.stand_in);
    if (computed() && computed()->sequence.settings.parameters.contains(parameter.name))
      value = computed()->sequence.parameter(parameter.name);
    if (const double* const given = value_at(side().settings.parameters, parameter.name)) value = *given;
    const auto type = [change = changes(), parameter](const std::string& text) {
      const double typed = parse_all<double>(text).value_or(NAN);
      if (!(typed >= parameter.minimum && typed <= parameter.maximum)) return;
      change([&](Side& next) {
        next.settings.parameters[parameter.name] = parameter.whole ? std::floor(typed) : typed;
      });
    };
    how_.push_back(
        scene::row({Node{scene::Input{.text = fmt::format("{:.5g}", value), .set = type, .on_enter = true}}
                        .named(parameter.name)
                        .told(parameter.meaning)
                        .fixed(90),
                    scene::line(parameter.name)}));
  }

  /// Sliders for the inputs of this side alone; those of the first side are in Step.
  void add_sliders() {
    how_.push_back(scene::caption("For this side alone"));
    for (const auto& [kind, symbol, words, role] :
         {std::tuple("scale_decay", "\\alpha", "to the power of", Role::gate),
          {"scale_strength", "\\beta", "times", Role::strength},
          {"scale_keys", "k", "times", Role::key}}) {
      const double* const own = value_at(side().sliders, kind);
      const auto set = [change = changes(), kind = kind](double value) {
        change([&](Side& next) {
          if (value == 1)
            next.sliders.erase(kind);
          else
            next.sliders[kind] = value;
        });
      };
      how_.push_back(Node{scene::Slider{.symbol = symbol,
                                        .words = words,
                                        .value = own ? *own : 1,
                                        .look = {.minimum = 0, .maximum = 3, .reset = 1, .role = role},
                                        .set = set}}
                         .named(kind));
    }
  }

  Application& application_;
  const ComparedSide& compared_;
  Nodes how_;
};

}  // namespace

Node rail_node(Application& application, const ComparedSides& all) {
  Nodes names;
  Nodes words;
  for (std::size_t stop = 0; stop < rail().size(); ++stop) {
    names.push_back(stop_name(application, all, stop));
    words.push_back(stop_words(all, stop));
  }
  const auto drag = [&application](const PlotDone& done) { drag_side(application, done); };
  return scene::row({scene::column({scene::row(std::move(names), Gap::none),
                                    scene::plotted(track_plot(all), drag).fixed(track_height),
                                    scene::top_row(std::move(words), Gap::none)},
                                   Gap::hair)
                         .filling(),
                     buttons(application).fixed(buttons_width)});
}

Node side_menu(Application& application, const ComparedSide& side) {
  return SideMenu(application, side).content();
}

}  // namespace palimpsest
