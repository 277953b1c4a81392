#include "app/views/bar_words.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "app/views/learn.h"
#include "app/views/timeline_scale.h"
#include "core/formula/notation.h"

namespace palimpsest {

namespace {

std::string numbered(const Computation& computed, Index token) {
  return fmt::format("{} ({})", quoted_word(computed, token), token);
}

std::string letter_of(const StepReach& strengths) {
  if (!strengths.symbol.empty()) return unicode(strengths.symbol);
  static constexpr std::pair<const char*, const char*> letters[] = {
      {"beta", "β"}, {"delta", "Δ"}, {"eta", "η"}, {"theta", "θ"}};
  for (const auto& [name, letter] : letters) {
    if (strengths.array == name) return letter;
  }
  return {};
}

}  // namespace

std::string strength_bar_words(const Computation& computed, const StepReach& strengths, Index token) {
  const std::string letter = letter_of(strengths);
  const std::string what = strengths.is_network ? letter + " × curvature" : letter + "‖k‖²";
  const double reach = strengths.reach[token];
  std::string words =
      fmt::format("{}\n{} = {:.3g}: how far it steps", numbered(computed, token), what, reach);
  if (strengths.has_edge) words += "; at 1 it lands on its value, beyond 2 it ends farther away";
  if (strengths.has_edge && strengths.has_momentum) words += " by itself: momentum moves that edge";
  const double squares = strengths.squares[token];
  if (!letter.empty() && squares > 0) words += fmt::format("\n{} = {:.3g}", letter, reach / squares);
  return words;
}

const char* gate_letter(const Computation& computed, const Keeping& keeping) {
  if (keeping.forgets) return "f";
  if (keeping.array == "mu") return "μ";
  const bool is_gamma = keeping.array == "gamma" || computed.sequence.settings.parameters.contains("gamma");
  return is_gamma ? "γ" : "α";
}

std::string keeping_bar_words(const Computation& computed, const Keeping& keeping, Index channel,
                              Index token) {
  const double kept = keeping.mean[token];
  std::string words = numbered(computed, token) + "\n";
  if (keeping.forgets)
    words += fmt::format("f = {:.4g}, so {:.4g} of the memory stays", 1 - kept, kept);
  else
    words += fmt::format("{} = {:.4g}", gate_letter(computed, keeping), kept);
  if (keeping.channels > 1 && channel < 0) {
    words += fmt::format(" on average, {:.4g} to {:.4g} over its {} channels", keeping.least[token],
                         keeping.most[token], keeping.channels);
  } else if (keeping.channels > 1) {
    words += fmt::format(" in {} {}", keeping.array == "mu" ? "column" : "row", channel);
  }
  return words + ": " + half_life_words(kept);
}

std::string error_bar_words(const Computation& computed, Index token) {
  const Recall* recall = computed.recall(token);
  if (!recall) return {};
  return fmt::format("{}\nlength of the error{}: {:.3g} before its write, {:.3g} after",
                     numbered(computed, token), computed.edited ? " in the correct run" : "",
                     std::sqrt(2 * recall->before), std::sqrt(2 * recall->after));
}

std::string growth_bar_words(const Computation& computed, Index token) {
  const Recall* recall = computed.recall(token);
  if (!recall) return {};
  return fmt::format("{}\nthe numbers of S after it: {:.3g} (root mean square)", numbered(computed, token),
                     recall->root_mean_square);
}

}  // namespace palimpsest
