#include "app/views/learn.h"
#include "app/widgets/chart.h"

// The loss along a step: how large it can be, where it lands, and with which token it interferes.

namespace palimpsest {

namespace {

constexpr float dot_size = 6.5F;
constexpr double least_strength = 1e-4;  // of the axis: at strength 0 there would be no loss to show
constexpr double apart_x = 0.01;         // of an axis: points closer than this are one
constexpr double apart_y = 0.02;

struct DraggedDot {
  bool active = false;
  double right = 0;   // the end of the axis when the drag began
  double wanted = 0;  // where the dot is dragged to
  double set = 0;     // the strength that was set last
};

double per_rate(const LearningMoment& moment) { return moment.strength ? moment.strength->per_rate : 1; }

/// The ends of the axes: the whole bowl if the loss has a minimum, and the loss after the step.
void set_ranges(Plot& plot, const LearningMoment& moment) {
  plot.x.high = moment.rates.back() * per_rate(moment);
  const LearningStep& step = moment.step;
  const auto [least, most] = std::ranges::minmax(moment.losses);
  const bool is_bowl = moment.edge * per_rate(moment) <= plot.x.high;
  double& low = plot.y.low;
  double& high = plot.y.high;
  // A loss without its constant may lie below 0.
  low = is_bowl ? std::min(std::max(least, 0.0) == least ? 0.0 : least, step.loss_after) : least;
  high = is_bowl ? std::max(step.along.value + 0.4 * (step.along.value - low),
                            step.loss_after + 0.1 * (step.loss_after - low))
                 : std::max(most, step.loss_after);
  if (!is_bowl) {
    const double margin = 0.12 * (high - least);
    low = least - margin;
    high += margin;
  }
  if (is_flat(low, high)) {  // the only scale is the loss itself
    const double loss = 1.4 * step.along.value;
    low = std::min(0.0, loss);
    high = std::max(0.0, loss);
  }
  if (is_flat(low, high)) {
    low = 0;
    high = 1;
  }
}

PlotMark closer_mark(const LearningMoment& moment, double edge, double right) {
  return {.kind = PlotMark::Kind::area,
          .name = "closer",
          .to_x = edge,
          .look = {.colour = style::colours().good},
          .fill = 0.09F,
          .label = {.words = {decrease_words(moment, edge, edge <= right)}, .is_needed = false},
          .wish = {1, 0}};
}

/// The limit, and the band beyond in which the loss increases.
void add_edge(Plot& plot, double edge) {
  const style::Palette& c = style::colours();
  if (edge > plot.x.high) return;
  plot.marks.push_back({.kind = PlotMark::Kind::area,
                        .name = "beyond",
                        .x = edge,
                        .look = {.colour = c.alarm},
                        .fill = 0.06F,
                        .hatch = 0.3F,
                        .label = {.words = {increase_words}, .is_needed = false},
                        .wish = {1, 1}});
  plot.marks.push_back(upright_mark("edge", edge, {.colour = c.alarm}));
  const double digits = std::pow(10, std::floor(std::log10(plot.x.high / 100)));
  plot.x.named.push_back({.at = edge, .words = axis_number(edge, digits), .colour = c.alarm});
}

PlotSeries loss_series(std::string name, const std::vector<double>& rates, double unit,
                       std::vector<double> losses, PlotLook look) {
  PlotSeries series{.name = std::move(name), .x = rates, .y = std::move(losses), .look = look};
  for (double& x : series.x) x *= unit;
  return series;
}

/// The stored token whose loss this step increases most, with its loss along the same line; null where there
/// is none.
std::shared_ptr<const std::optional<HarmAlong>> harm_now(const LearnScene& scene) {
  Session& session = scene.application.session;
  const Known<std::optional<HarmAlong>> answer =
      ask(session, HarmNow{{session.computed()}, session.token()}, Urgency::later);
  const bool is_known = answer.value && *answer.value && !answer.stale && !scene.is_old;
  return is_known ? answer.value : nullptr;
}

/// The curve at `x`, interpolated linearly between its two nearest points.
double between_points(std::span<const double> xs, std::span<const double> ys, double x) {
  if (xs.size() < 2 || ys.size() < xs.size()) return NAN;
  const auto above = std::ranges::lower_bound(xs, x);
  const auto i = std::clamp<std::ptrdiff_t>(above - xs.begin(), 1, std::ssize(xs) - 1);
  const auto j = static_cast<std::size_t>(i);
  const double part = (x - xs[j - 1]) / (xs[j] - xs[j - 1]);
  return ys[j - 1] + part * (ys[j] - ys[j - 1]);
}

/// The loss of that token along this step; a dot on the curve at step size `at`, and a ring where the step
/// lands if momentum takes it off the curve.
void add_harm(Plot& plot, const LearnScene& scene, const HarmAlong& harm, double at) {
  const style::Palette& c = style::colours();
  const LearningMoment& moment = scene.moment;
  const double unit = per_rate(moment);
  plot.series.push_back(loss_series("harm", harm.rates, unit, harm.losses, {.colour = c.faint}));
  const auto is_in_sight = [&](double loss) { return loss > plot.y.low && loss <= plot.y.high; };
  const double on_curve = between_points(plot.series.back().x, harm.losses, at);
  const bool leaves_curve = std::abs(harm.pair.after - on_curve) > apart_y * (plot.y.high - plot.y.low);
  const std::string word = quoted_word(*scene.application.session.computed(), harm.pair.token);
  const std::vector<std::string> words = interference_words(word, harm.pair);
  const PlotLook filled = {.colour = c.dim, .marker = PlotMarker::circle, .size = dot_size - 2};
  PlotMark dot = point_mark("harm", at, on_curve, filled);
  if (is_in_sight(harm.pair.after) && !leaves_curve) dot = std::move(dot).labelled({.words = words}, {12, 2});
  if (is_in_sight(on_curve)) plot.marks.push_back(dot);
  if (!is_in_sight(harm.pair.after) || !leaves_curve) return;
  const double lands_at = moment.step.taken * unit;
  plot.marks.push_back(line_mark(at, on_curve, lands_at, harm.pair.after,
                                 {.colour = c.faint, .width = style::line, .dash = 5}));
  std::vector<std::string> landing;
  for (const std::string& each : words) landing.push_back(fmt::format("{}: {}", landing_words(moment), each));
  plot.marks.push_back(point_mark("interference lands", lands_at, harm.pair.after,
                                  {.colour = c.dim, .marker = PlotMarker::ring, .size = dot_size - 2})
                           .labelled({.words = std::move(landing)}, {12, -6}));
}

/// The dot at step size `at`, the loss there, and a ring where the step lands if that is elsewhere.
void add_dot(Plot& plot, const LearningMoment& moment, double at, bool is_dragged) {
  const style::Palette& c = style::colours();
  const LearningStep& step = moment.step;
  const double unit = per_rate(moment);
  double loss = loss_on_line(moment, at / unit);
  const bool is_beyond = at / unit > moment.edge;
  const PlotLook look = {
      .colour = is_beyond ? c.alarm : c.strength, .marker = PlotMarker::circle, .size = dot_size};
  const double lands_at = step.taken * unit;
  const bool lands_elsewhere = std::abs(lands_at - at) > apart_x * plot.x.high ||
                               std::abs(step.loss_after - loss) > apart_y * (plot.y.high - plot.y.low);
  plot.marks.push_back(
      line_mark(at, loss, at, plot.y.low, {.colour = look.colour, .width = style::line, .dash = 5}));
  if (lands_elsewhere && !is_dragged) {
    const PlotLook dashes = {.colour = c.dim, .width = style::line, .dash = 5};
    plot.marks.push_back(line_mark(at, loss, lands_at, step.loss_after, dashes));
    plot.marks.push_back(
        point_mark("landing", lands_at, step.loss_after,
                   {.colour = c.text, .marker = PlotMarker::ring, .size = dot_size - 1})
            .labelled({.words = {fmt::format("{}: {:.3g}", landing_words(moment), step.loss_after)}},
                      {12, 8}));
  } else if (!is_dragged) {
    loss = step.loss_after;  // too close to distinguish: the dot is where the step lands
  }
  const std::string symbol = moment.strength ? moment.strength->symbol : "";
  const std::string words = fmt::format("{}{:.3g}   loss {:.3g}", symbol.empty() ? "step " : "", at, loss);
  plot.marks.push_back(
      point_mark("", at, loss, {.colour = c.panel, .marker = PlotMarker::circle, .size = dot_size + 1.5F}));
  plot.marks.push_back(
      point_mark("dot", at, loss, look)
          .labelled({.words = {words}, .symbol = symbol, .colour = is_beyond ? c.alarm : c.text}, {14, -30}));
}

/// The loss along the step of size `at`, with that of the token it interferes with most; `is_dragged`: the
/// loss after the step is not computed yet.
Plot loss_plot(const LearnScene& scene, double at, const HarmAlong* harm, bool is_dragged) {
  const style::Palette& c = style::colours();
  const LearningMoment& moment = scene.moment;
  const LearningStep& step = moment.step;
  const double unit = per_rate(moment);
  Plot plot{.name = "loss",
            .x = {.title = step_axis_titles(moment, unit), .has_grid = false},
            .y = {.title = {"loss"}}};
  set_ranges(plot, moment);
  const double edge = moment.edge * unit;
  if (moment.edge != moment.parabola_edge) {
    std::vector<double> parabola;
    for (const double rate : moment.rates)
      parabola.push_back(step.along.value + step.along.slope * rate + step.along.curvature * rate * rate / 2);
    plot.series.push_back(loss_series("parabola", moment.rates, unit, std::move(parabola),
                                      {.colour = c.dim, .width = 1.5F, .dash = 5}));
  }
  const ImU32 ink = scene.is_old ? style::mix(c.panel, c.strength, 0.5F) : c.strength;
  plot.series.push_back(
      loss_series("loss", moment.rates, unit, moment.losses, {.colour = ink, .width = 2.5F}));
  add_edge(plot, edge);
  plot.marks.push_back(closer_mark(moment, edge, plot.x.high));
  plot.marks.push_back(point_mark("before", 0, step.along.value,
                                  {.colour = c.text, .marker = PlotMarker::circle, .size = dot_size})
                           .labelled({.words = {fmt::format("before {:.3g}", step.along.value)}}, {14, -18}));
  add_dot(plot, moment, at, is_dragged);
  if (harm) add_harm(plot, scene, *harm, at);  // its labels give way to the dot's
  plot.drags = moment.strength.has_value();
  return plot;
}

void set_strength(const LearnScene& scene, double value) {
  Session& session = scene.application.session;
  const LearningMoment& moment = scene.moment;
  const InnerProblem& problem = moment.step.problem;
  const bool has_channels = moment.strength->channel > 0;
  session.choose(
      [&](Choice& choice) {
        paint(choice.edits, moment.strength->array, problem.first_token,
              problem.first_token + problem.token_count - 1, value,
              has_channels ? std::optional(moment.strength->channel) : std::nullopt);
      },
      "dot");
}

void drag_dot(const LearnScene& scene, const PlotDone& done, double present, double right) {
  auto& dragged = context_local<DraggedDot>();
  if (!scene.moment.strength || !done.active) {
    // Released before the last strength was computed.
    if (dragged.active && dragged.wanted != dragged.set && scene.moment.strength)
      set_strength(scene, dragged.wanted);
    dragged.active = false;
    return;
  }
  if (!dragged.active) dragged = {.active = true, .right = right, .wanted = present, .set = present};
  const bool is_rate = scene.moment.step.problem.rate == scene.moment.strength->value;
  dragged.wanted = is_rate ? *done.dragged : std::max(*done.dragged, least_strength * right);
  if (dragged.wanted == dragged.set || scene.is_old) return;
  set_strength(scene, dragged.wanted);
  dragged.set = dragged.wanted;
}

}  // namespace

Node loss_picture(const LearnScene& scene) {
  const LearningMoment& moment = scene.moment;
  const auto& dragged = context_local<DraggedDot>();
  const double present = moment.strength ? moment.step.problem.rate * per_rate(moment) : moment.step.taken;
  const auto harm = dragged.active ? nullptr : harm_now(scene);
  Plot plot =
      loss_plot(scene, dragged.active ? dragged.wanted : present, harm ? &**harm : nullptr, dragged.active);
  if (dragged.active) plot.x.high = dragged.right;
  const double right = plot.x.high;
  return scene::plotted(std::move(plot), [scene, present, right](const PlotDone& done) {
    drag_dot(scene, done, present, right);
  });
}

}  // namespace palimpsest
