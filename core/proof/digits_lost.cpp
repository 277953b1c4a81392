#include "core/proof/digits_lost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

double worst(const DigitsLost& each) { return std::max(each.factor, each.of_state); }

std::string times(double factor) {
  if (!std::isfinite(factor)) return "beyond any digit";
  return factor < 10 ? fmt::format("by {:.1f}", factor) : fmt::format("by {:.2g}", factor);
}

}  // namespace

double DigitsLost::digits() const { return std::log10(worst(*this)); }

std::vector<DigitsLost> digits_lost(ReferenceRun& reference, const std::vector<Form>& forms, Index chunk_size,
                                    std::stop_token stop) {
  std::vector<DigitsLost> all;
  for (const Form form : forms) {
    const Amplification measured = reference.amplification(form, chunk_size, stop);
    DigitsLost lost{.form = form, .at_once = tokens_at_once(form, chunk_size, reference.sequence().tokens)};
    for (const Amplification::Factor& each : measured.factors) {
      double& factor = each.array == "o" ? lost.factor : lost.of_state;
      factor = std::max(factor, each.factor);
    }
    all.push_back(lost);
  }
  return all;
}

std::string in_words(const std::vector<DigitsLost>& lost) {
  if (lost.empty()) return {};
  const DigitsLost& most = *std::ranges::max_element(lost, {}, &DigitsLost::at_once);
  const DigitsLost& least = *std::ranges::min_element(lost, {}, &DigitsLost::at_once);
  if (most.at_once == least.at_once) {
    return fmt::format("Every form here takes {} at a time; rounding is multiplied {}.",
                       most.at_once == 1 ? "one token" : fmt::format("{} tokens", most.at_once),
                       times(worst(most)));
  }
  const double ratio = worst(most) / worst(least);
  const std::string measured = fmt::format("here rounding is multiplied {} on the way, token by token {}",
                                           times(worst(most)), times(worst(least)));
  if (!(ratio > 2)) {
    return fmt::format(
        "The {} form adds up {} writes before they can take each other away. On these data they hardly do: "
        "{}.",
        name(most.form), most.at_once, measured);
  }
  return fmt::format(
      "The {} form adds up {} writes before they take each other away, and every term is rounded as a part "
      "of "
      "a sum that is larger than what is left of it: {}. That is {:.1f} decimal digits.",
      name(most.form), most.at_once, measured, std::log10(ratio));
}

}  // namespace palimpsest
