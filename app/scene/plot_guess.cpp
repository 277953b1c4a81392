#include "app/gl/context_local.h"
#include "app/scene/plot_view.h"

namespace palimpsest {

namespace {

constexpr float ring_size = 11;
constexpr float dash = 6;

PlotAxis& asked_axis(Plot& plot, const PlotGuess& guess) { return guess.is_height ? plot.y : plot.x; }

/// The axes of a plot, without what tells the answer, and with all that may be guessed.
Plot without_curves(const Plot& plot, const PlotGuess& guess) {
  Plot bare = {.name = plot.name, .x = plot.x, .y = plot.y, .is_area = plot.is_area};
  for (PlotAxis* axis : {&bare.x, &bare.y}) {
    axis->named.clear();
    axis->title.resize(std::min<std::size_t>(axis->title.size(), 1));
  }
  PlotAxis& asked = asked_axis(bare, guess);
  asked.low = std::min(asked.low, guess.least);
  asked.high = std::max(asked.high, guess.most);
  bare.drags = !guess.is_height;
  bare.presses = guess.is_height;
  return bare;
}

/// A ring on its track, or the dashed line at which it was let go.
void add_guess(Plot& plot, const PlotGuess& guess) {
  const PlotLook dashes = {.colour = style::colours().text, .width = style::line, .dash = dash};
  const PlotLook track = {.colour = style::colours().dim, .width = style::line, .dash = 2};
  const PlotLook ring = {.colour = style::colours().text,
                         .marker = guess.is_height ? PlotMarker::ring : PlotMarker::handle,
                         .size = ring_size};
  if (guess.is_height && !guess.x) return;
  const double value = guess.value.value_or((guess.least + guess.most) / 2);
  if (guess.has_looked) {
    PlotMark mark =
        guess.is_height ? level_mark("guess", value, dashes) : upright_mark("guess", value, dashes);
    mark.label = {.words = {"your guess"}, .colour = style::colours().text};
    PlotAxis& asked = asked_axis(plot, guess);
    asked.low = std::min(asked.low, value);
    asked.high = std::max(asked.high, value);
    plot.marks.push_back(std::move(mark));
    return;
  }
  const double middle = (plot.y.low + plot.y.high) / 2;
  plot.marks.push_back(guess.is_height ? upright_mark("", *guess.x, track) : level_mark("", middle, track));
  if (guess.value)
    plot.marks.push_back(guess.is_height ? level_mark("", value, dashes) : upright_mark("", value, dashes));
  plot.marks.push_back(guess.is_height ? point_mark("guess", *guess.x, value, ring)
                                       : point_mark("guess", value, middle, ring));
}

}  // namespace

PlotGuess& plot_guess() { return context_local<PlotGuess>(); }

PlotDone draw_guessed(const Plot& plot, PlotGuess& guess, const std::function<PlotDone(const Plot&)>& draw) {
  Plot shown = guess.has_looked ? plot : without_curves(plot, guess);
  add_guess(shown, guess);
  const PlotDone done = draw(shown);
  if (guess.has_looked) return done;
  const std::optional<double> dragged = !guess.is_height         ? done.dragged
                                        : done.active && done.at ? std::optional(done.at->y)
                                                                 : std::nullopt;
  guess.is_dragged = dragged.has_value();
  if (dragged) guess.value = std::clamp(*dragged, guess.least, guess.most);
  return {.area = done.area};
}

}  // namespace palimpsest
