#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/views/adjusting.h"
#include "app/views/form_words.h"
#include "app/views/learn.h"
#include "app/widgets/controls.h"
#include "app/widgets/paragraph_height.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float spectrum_height = 56;

/// "0.3824", or with a power of ten where there is no room.
std::string loss_number(double loss) {
  const double size = std::abs(loss);
  if (!std::isfinite(loss)) return "∞";
  return size != 0 && (size < 1e-3 || size >= 1e4) ? fmt::format("{:.2e}", loss)
                                                   : fmt::format("{:.4f}", loss);
}

/// The loss before and after the step, large.
void losses(const LearningMoment& moment) {
  const style::Palette& c = style::colours();
  const LearningStep& step = moment.step;
  const bool is_better = step.loss_after <= step.loss_before;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const std::string before = loss_number(step.loss_before);
  const std::string after = loss_number(step.loss_after);
  // As large as the longest have room, so that what stands below does not move.
  const auto longest = [](style::Text size) {
    const style::TextStyle text(size);
    return text_extent("8.88e-88 → 8.88e-88").x;
  };
  const style::Text size =
      longest(style::Text::number_large) <= width ? style::Text::number_large : style::Text::number;
  const style::TextStyle text(size);
  float x = from.x;
  for (const auto& [words, colour] : {std::pair(before, c.text), std::pair(std::string(" → "), c.faint),
                                      std::pair(after, is_better ? c.good : c.alarm)}) {
    draw_text({x, from.y}, colour, words);
    x += text_extent(words).x;
  }
  ImGui::Dummy({width, text_extent("0").y + px(2)});
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

/// How high the sentence about the step can become at this width while the step is made longer or shorter.
float sentence_height(const std::string& present) {
  static constexpr const char* longest[] = {
      "The step is 88.88 times as long as it may be: it lands farther from the word than it began.",
      "0.888 of the miss is left, on the far side: 1 − 8.88. Squared, 0.00088 of the error."};
  float height = style::paragraph_height(present);
  for (const char* words : longest) height = std::max(height, style::paragraph_height(words));
  return height;
}

/// A sentence in the place that it has whatever it says: what stands below does not move.
void steady_sentence(const std::string& sentence) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float height = sentence_height(sentence);
  style::paragraph(sentence);
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({1, height});
}

/// The directions that the memory uses, strongest first.
void spectrum(Application& application) {
  const style::Palette& c = style::colours();
  const auto computed = application.session.computed();
  SpectraOfMemory key;
  key.of = computed;
  key.tokens = std::min(application.session.token() + 1, computed->sequence.tokens);
  const auto answer = application.session.questions().ask(key, Urgency::later);
  if (!answer.value || answer.value->empty()) {
    if (!answer.reason.empty()) {
      style::caption("Directions the memory uses");
      style::caption(answer.reason);
    }
    return;
  }
  const Spectrum& shown = answer.value->front();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const Vector<double>& values = shown.singular_values;
  {
    const style::TextStyle text(style::Text::caption);
    const std::string words = answer.value->size() > 1 ? fmt::format("Directions that {} uses", shown.name)
                                                       : std::string("Directions the memory uses");
    const std::string rank = fmt::format("{:.1f} of {}", shown.effective_rank, values.size());
    draw_text(from, c.dim, shortened(words, width - text_extent(rank).x - px(8)));
    draw_text({from.x + width - text_extent(rank).x, from.y}, c.text, rank);
  }
  const float top = from.y + px(24);
  const float bottom = top + px(spectrum_height);
  const double most = values.size() > 0 ? values[0] : 0;
  const float column = width / static_cast<float>(std::max<Index>(values.size(), 1));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = answer.stale ? c.faint : c.dim;
  for (Index i = 0; i < values.size() && most > 0; ++i) {
    const float x = from.x + static_cast<float>(i) * column;
    const float height = std::max(static_cast<float>(values[i] / most) * px(spectrum_height), 1.0F);
    list->AddRectFilled({x, bottom - height},
                        {x + std::max(column - (column > 3 ? 1.0F : 0.0F), 1.0F), bottom}, ink);
  }
  const style::TextStyle text(style::Text::caption);
  const std::string words = fmt::format("after {} words; the strongest {:.3g}", key.tokens, most);
  draw_text({from.x, bottom + px(4)}, c.dim, shortened(words, width));
  ImGui::Dummy({width, px(24 + spectrum_height + 22)});
  learn_map().spectrum = {from, {from.x + width, bottom + px(4) + text_extent(words).y}};
}

}  // namespace

void draw_learn_side(Application& application) {
  if (style::begin_panel("##learn side") && application.session.computed() &&
      application.session.computed()) {
    const Computation& computed = *application.session.computed();
    // What a rule without a loss does instead stands beside, in the place of the picture.
    if (computed.variant->loss.problems && computed.sequence.tokens > 0) {
      const Known<LearningNow::Value> answer = ask_learning(application);
      if (answer.value && *answer.value) {
        const LearningMoment& moment = **answer.value;
        style::caption(moment.step.problem.token_count > 1 ? "Loss of this batch"
                       : is_error_of_token(moment)         ? "Error at this word"
                                                           : "Loss at this word");
        losses(moment);
        steady_sentence(left_words(moment));
      }
    }
    learn_map().sliders_top = ImGui::GetCursorScreenPos().y + ImGui::GetScrollY();
    adjusting_numbers(application);
    // Below the sliders: it comes and goes while they are dragged.
    if (computed.divergence) {
      const style::TextStyle text(style::Text::body, style::colours().alarm);
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(divergence_words(*computed.divergence).c_str());
      ImGui::PopTextWrapPos();
    }
    spectrum(application);
    // Last: Step has them too, and what the sliders do to the spectrum is to be seen without scrolling.
    adjusting_options(application);
  }
  style::end_panel();
}

}  // namespace palimpsest
