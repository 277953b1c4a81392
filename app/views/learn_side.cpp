#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/scene/draw.h"
#include "app/views/adjusting.h"
#include "app/views/form_words.h"
#include "app/views/learn.h"

namespace palimpsest {

namespace {

using scene::Node;
using scene::Nodes;

/// "0.3824", or with a power of ten where there is no room.
std::string loss_number(double loss) {
  const double size = std::abs(loss);
  if (!std::isfinite(loss)) return "∞";
  return size != 0 && (size < 1e-3 || size >= 1e4) ? fmt::format("{:.2e}", loss)
                                                   : fmt::format("{:.4f}", loss);
}

/// The loss before and after the step: large where the longest have room, so that what stands below does not
/// move.
Node losses(const LearningMoment& moment) {
  const style::Palette& c = style::colours();
  const LearningStep& step = moment.step;
  const auto written = [&](style::Text size) {
    const auto part = [&](const std::string& words, scene::Ink ink) {
      return scene::text(words, size, ink, scene::Fit::whole);
    };
    return scene::steady({scene::row({part(loss_number(step.loss_before), c.text), part("→", c.faint),
                                      part(loss_number(step.loss_after),
                                           step.loss_after <= step.loss_before ? c.good : c.alarm)}),
                          part("8.88e-88 → 8.88e-88", c.text)});
  };
  return scene::first_that_fits({written(style::Text::number_large), written(style::Text::number)})
      .named("loss");
}

std::string left_words(const LearningMoment& moment) {
  const LearningStep& step = moment.step;
  if (step.problem.muon)
    return "It has no floor, so nothing stops it here: every direction steps equally far, and the columns "
           "keep "
           "their length.";
  if (!std::isfinite(step.loss_after)) return "The step leaves numbers that are not finite.";
  if (step.loss_after > step.loss_before && std::isfinite(moment.edge))
    return fmt::format(
        "The step is {:.3g} times as long as it may be: it lands farther from the word than it began.",
        step.taken / moment.edge);
  const bool is_error = is_error_of_token(moment);
  if (step.stability && step.stability->exact && is_error && step.problem.kept == 1 &&
      step.problem.moving.empty() && step.stability->reach > 0 && step.along.value > 0) {
    const double left = step.stability->eigenvalue;
    if (std::abs(left) < 5e-4)
      return fmt::format("Nothing of the miss is left: 1 − {:.3g}.", step.stability->reach);
    const char* passed = left < 0 ? ", on the far side" : "";
    return fmt::format("{:.3f} of the miss is left{}: 1 − {:.3g}. Squared, {:.2g} of the error.",
                       std::abs(left), passed, step.stability->reach, left * left);
  }
  // Of a loss that may fall below 0 no share can be left.
  if ((is_error || step.problem.token_count > 1) && step.loss_before > 0 && step.loss_after >= 0)
    return fmt::format("{:.2g} of the {} is left.", step.loss_after / step.loss_before,
                       is_error ? "error" : "loss");
  if (step.along.curvature > 0)
    return fmt::format("The loss falls by {:.3g}.", step.loss_before - step.loss_after);
  return "This loss has no floor: it falls as long as the step goes on.";
}

/// A sentence in the place that it has whatever it says while the step is made longer or shorter.
Node steady_sentence(const std::string& sentence) {
  return scene::steady(
             {scene::paragraph(sentence),
              scene::paragraph("The step is 88.88 times as long as it may be: it lands farther from the word "
                               "than it began."),
              scene::paragraph(
                  "0.888 of the miss is left, on the far side: 1 − 8.88. Squared, 0.00088 of the error.")})
      .named("left");
}

/// The directions that the memory uses, strongest first.
Node spectrum(Application& application) {
  const style::Palette& c = style::colours();
  const auto computed = application.session.computed();
  SpectraOfMemory key;
  key.of = computed;
  key.tokens = std::min(application.session.token() + 1, computed->sequence.tokens);
  const auto answer = application.session.questions().ask(key, Urgency::later);
  if (!answer.value || answer.value->empty()) {
    if (answer.reason.empty()) return scene::column({});
    return scene::column({scene::caption("Directions the memory uses"), scene::caption(answer.reason)});
  }
  const Spectrum& shown = answer.value->front();
  const Vector<double>& values = shown.singular_values;
  const double most = values.size() > 0 ? values[0] : 0;
  const std::string words = answer.value->size() > 1 ? fmt::format("Directions that {} uses", shown.name)
                                                     : std::string("Directions the memory uses");
  return scene::column(
             {scene::row({scene::line(words, style::Text::caption, c.dim), scene::rest(),
                          scene::text(fmt::format("{:.1f} of {}", shown.effective_rank, values.size()),
                                      style::Text::caption, c.text, scene::Fit::whole)}),
              Node{scene::Sparkline{.values = {values.begin(), values.end()},
                                    .most = most,
                                    .has_bars = true,
                                    .ink = answer.stale ? c.faint : c.dim,
                                    .height = 56}},
              scene::line(fmt::format("after {} words; the strongest {:.3g}", key.tokens, most),
                          style::Text::caption, c.dim)},
             scene::Gap::near)
      .named("spectrum");
}

/// What the step does to the loss; nothing where a rule has none.
Nodes loss_of_step(Application& application, const Computation& computed) {
  if (!computed.variant->loss.problems || computed.sequence.tokens == 0) return {};
  const Known<std::optional<LearningMoment>> answer = ask_learning(application);
  if (!answer.value || !*answer.value) return {};
  const LearningMoment& moment = **answer.value;
  return {scene::caption(moment.step.problem.token_count > 1 ? "Loss of this batch"
                         : is_error_of_token(moment)         ? "Error at this word"
                                                             : "Loss at this word"),
          losses(moment), steady_sentence(left_words(moment))};
}

}  // namespace

void draw_learn_side(Application& application) {
  if (style::begin_panel("##learn side") && application.session.computed()) {
    const Computation& computed = *application.session.computed();
    // What a rule without a loss does instead stands beside, in the place of the picture.
    Nodes all = loss_of_step(application, computed);
    all.push_back(adjusting_numbers(application));
    // Below the sliders: it comes and goes while they are dragged.
    if (computed.divergence)
      all.push_back(
          scene::text(divergence_words(*computed.divergence), style::Text::body, style::colours().alarm));
    all.push_back(spectrum(application));
    // Last: Step has them too, and what the sliders do to the spectrum is to be seen without scrolling.
    all.push_back(adjusting_options(application));
    scene::show(scene::column(std::move(all), scene::Gap::near).named("side"));
  }
  style::end_panel();
}

}  // namespace palimpsest
