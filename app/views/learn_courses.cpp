// Iterations: the singular values of a gathered step through Newton–Schulz, and the solution for a query by
// conjugate gradients.

#include "app/views/learn.h"
#include "app/widgets/chart.h"

namespace palimpsest {

namespace {

constexpr double alike_from = 0.68;  // the usual coefficients bring all but tiny values into this range
constexpr double alike_to = 1.2;
constexpr double lowest = 1e-5;  // of the axis
constexpr double highest = 6;
constexpr Index most_lines = 64;  // of directions, or of channels
constexpr double rounding = std::numeric_limits<double>::epsilon();

std::vector<PlotTick> step_ticks(const Matrix<double>& values, std::size_t shown) {
  std::vector<PlotTick> ticks;
  for (Index i = 0; i < values.cols(); ++i) {
    const auto column = values.col(i).array();
    const Index alike = (column >= alike_from && column <= alike_to).count();
    ticks.push_back(
        {.at = static_cast<double>(i),
         .latex = fmt::format("X_{}", i),
         .below = fmt::format("{} of {}", alike, values.rows()),
         .colour = i == static_cast<Index>(shown) ? style::colours().strength : style::colours().text});
  }
  return ticks;
}

/// The strongest and the weakest direction, and between them as many as can be distinguished.
void add_directions(Plot& plot, const Matrix<double>& values, bool is_old) {
  const style::Palette& c = style::colours();
  const auto add = [&](Index direction, const PlotLook& look, const std::string& words) {
    PlotSeries course{.name = words, .look = look};
    if (!words.empty()) course.label.words = {words};
    if (!is_old) course.look.marker = PlotMarker::circle;
    course.look.size = look.width + 0.8F;
    for (Index i = 0; i < values.cols(); ++i)
      course.add(static_cast<double>(i), std::max(values(direction, i), plot.y.low));
    plot.series.push_back(std::move(course));
  };
  const Index stride = std::max<Index>(values.rows() / most_lines, 1);
  for (Index direction = 0; direction < values.rows(); direction += stride)
    add(direction, {.colour = style::with_alpha(c.dim, 0.55F), .width = 1}, "");
  add(0, {.colour = c.text}, "the largest");
  add(values.rows() - 1, {.colour = c.text}, fmt::format("the smallest of {}", values.rows()));
}

/// The singular values [directions, steps] as Newton–Schulz makes them equal; the step `shown` is marked.
Plot flattening_plot(const Matrix<double>& values, std::size_t shown, bool is_old) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "flattening",
            .x = {.low = -0.15,
                  .high = static_cast<double>(values.cols()) - 0.85,
                  .named = step_ticks(values, shown),
                  .has_round = false,
                  .row_name = "alike"},
            .y = {.title = {"singular values"},
                  .scale = PlotAxis::Scale::log10,
                  .low = std::clamp(values.minCoeff() / 2, lowest, 0.1),
                  .high = highest},
            .explores = true};
  plot.marks.push_back({.kind = PlotMark::Kind::area,
                        .name = "alike",
                        .y = alike_from,
                        .to_y = alike_to,
                        .look = {.colour = c.good},
                        .fill = 0.3F,
                        .label = {.words = {fmt::format("equal: {:g} to {:g}", alike_from, alike_to)}},
                        .wish = {1, 0}});
  add_directions(plot, values, is_old);
  // A line at the chosen step, which can be dragged.
  const PlotLook look = {.colour = c.strength, .marker = PlotMarker::circle, .size = 5};
  plot.marks.push_back(upright_mark("shown", static_cast<double>(shown), look));
  plot.marks.push_back(point_mark("knob", static_cast<double>(shown), plot.y.low, look));
  plot.drags = true;
  return plot;
}

PlotAxis steps_axis(const ConvergingSolve& solve) {
  PlotAxis axis{
      .title = {"steps"}, .high = std::max(static_cast<double>(solve.steps()), 1.0), .has_round = false};
  for (const double step : round_numbers(axis.low, axis.high, 6))
    if (step == std::round(step)) axis.named.push_back({.at = step, .words = fmt::format("{:.0f}", step)});
  return axis;
}

ImU32 faded(ImU32 colour, bool is_old) {
  return is_old ? style::mix(style::colours().panel, colour, 0.5F) : colour;
}

Plot rests_plot(const ConvergingSolve& solve, bool is_old) {
  const style::Palette& c = style::colours();
  Plot plot{.name = "solve/rests",
            .x = steps_axis(solve),
            .y = {.title = {"relative norm after each step"},
                  .scale = PlotAxis::Scale::log10,
                  .low = rounding / 30,
                  .high = 30},
            .explores = true};
  plot.marks.push_back(level_mark("rounding", rounding, {.colour = c.good, .width = style::line, .dash = 5})
                           .labelled({.words = {"rounding: stop"}}));
  const auto add = [&](const std::vector<double>& values, ImU32 colour, const std::string& words) {
    PlotSeries rests{.name = words,
                     .look = {.colour = faded(colour, is_old),
                              .marker = is_old ? PlotMarker::none : PlotMarker::circle,
                              .size = 2.5F},
                     .label = {.words = {words}, .colour = colour}};
    for (const double value : values)
      rests.add(static_cast<double>(rests.x.size()), std::max(value, plot.y.low));
    plot.series.push_back(std::move(rests));
  };
  add(solve.differences, c.dim, "difference from exact solution");
  add(solve.course.rests, c.strength, "residual of the system");
  return plot;
}

Plot solution_plot(const ConvergingSolve& solve, bool is_old) {
  const style::Palette& c = style::colours();
  double least = std::min(solve.exact.minCoeff(), 0.0);
  double most = std::max(solve.exact.maxCoeff(), 0.0);
  for (const Vector<double>& x : solve.course.solutions) {
    least = std::min(least, x.minCoeff());
    most = std::max(most, x.maxCoeff());
  }
  const double margin = most > least ? 0.1 * (most - least) : 1;
  Plot plot{.name = "solve/solution",
            .x = steps_axis(solve),
            .y = {.title = {fmt::format("the solution, {} channels", solve.exact.size())},
                  .low = least - margin,
                  .high = most + margin},
            .explores = true};
  Index largest = 0;
  solve.exact.cwiseAbs().maxCoeff(&largest);
  plot.marks.push_back(
      level_mark("exact", solve.exact[largest], {.colour = c.good, .width = style::line, .dash = 5})
          .labelled({.words = {fmt::format("exact: {:.3g}", solve.exact[largest])}}, {1, 0}));
  PlotSeries wanted{.look = {.colour = c.good, .width = 0, .marker = PlotMarker::dash, .size = 5}};
  const auto add = [&](Index channel, const std::string& name, PlotLook look) {
    PlotSeries course{.name = name, .look = look};
    for (const Vector<double>& x : solve.course.solutions)
      course.add(static_cast<double>(course.x.size()), x[channel]);
    plot.series.push_back(std::move(course));
    wanted.add(plot.x.high, solve.exact[channel]);
  };
  const Index stride = std::max<Index>(solve.exact.size() / most_lines, 1);
  for (Index i = 0; i < solve.exact.size(); i += stride)
    add(i, "", {.colour = faded(style::with_alpha(c.dim, 0.55F), is_old), .width = 1});
  add(largest, "largest", {.colour = faded(c.text, is_old)});
  plot.series.push_back(std::move(wanted));
  return plot;
}

}  // namespace

Index count_used(const Matrix<double>& singular_values) {
  constexpr double rounding = 1e-12;  // of the largest
  if (singular_values.size() == 0) return 0;
  return (singular_values.col(0).array() > rounding * singular_values(0, 0)).count();
}

Node flattening_picture(const LearnScene& scene) {
  // [directions, steps], largest first
  const Matrix<double> values =
      scene.moment.step.singular_values.topRows(count_used(scene.moment.step.singular_values));
  if (values.size() == 0) return scene::column({});
  const std::size_t shown = shown_iterate(scene.application.session, static_cast<std::size_t>(values.cols()));
  const double growth = values(values.rows() - 1, 1) / values(values.rows() - 1, 0);
  const auto look_at = [&session = scene.application.session,
                        last = static_cast<double>(values.cols() - 1)](const PlotDone& done) {
    if (!done.dragged) return;
    const Index iterate = std::lround(std::clamp(*done.dragged, 0.0, last));
    session.change([iterate](SessionState& state) { state.learn.iterate = iterate; });
  };
  return scene::column({scene::plotted(flattening_plot(values, shown, scene.is_old), look_at).filling(),
                        scene::centred(scene::as_many(orthogonalise_words(values.cols() - 1, growth)))});
}

Node solve_picture(const LearnScene& scene) {
  Session& session = scene.application.session;
  const Known<std::optional<ConvergingSolve>> answer =
      ask(session, SolveNow{{session.computed()}, scene.moment.token, session.choice().chunk_size});
  if (!answer.value || !*answer.value) return scene::column({});
  const ConvergingSolve& solve = **answer.value;
  const bool is_old = scene.is_old || answer.stale;
  return scene::column({scene::row({scene::plotted(rests_plot(solve, is_old)).filling(),
                                    scene::plotted(solution_plot(solve, is_old)).filling()},
                                   Gap::wide)
                            .filling(),
                        scene::centred(scene::as_many(solve_words(solve)))});
}

}  // namespace palimpsest
