#include "app/session/scales.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include "app/session/computation.h"

namespace palimpsest {

double quantile(std::vector<double> numbers, double share) {
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  if (numbers.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(numbers.size())));
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(numbers, at);
  return *at;
}

std::vector<double> sizes_of(const Matrix<double>& numbers) {
  std::vector<double> sizes;
  for (const double number : numbers.reshaped()) sizes.push_back(std::abs(number));
  return sizes;
}

namespace {

constexpr double most_tokens_share = 0.95;  // of the bars of the floor are shown in full
constexpr double strong_share = 0.5;        // of the strongest write: as for the words that are asked

/// What the facts of a token must exceed to be an event.
struct Limits {
  double written = 0;
  double faded = 0;
  double error = 0;  // |S^T k - v| before the write
};

double error_before(const Recall& recall) { return std::sqrt(2 * recall.before); }

Limits limits_of(const Computation& computed) {
  Limits limits;
  std::vector<double> faded;
  std::vector<double> errors;
  std::vector<double> written;
  for (const TokenFacts& facts : computed.tokens) {
    if (facts.written && std::isfinite(*facts.written)) written.push_back(*facts.written);
    if (facts.alpha) faded.push_back(1 - *facts.alpha);
  }
  for (const Recall& recall : computed.recalls->tokens) errors.push_back(error_before(recall));
  if (!written.empty()) {
    const double strongest = std::ranges::max(written);
    limits.written = std::max(strong_share * strongest, quantile(std::move(written), most_tokens_share));
  }
  limits.faded = quantile(std::move(faded), most_tokens_share);
  limits.error = quantile(std::move(errors), most_tokens_share);
  return limits;
}

/// What happens at a token, one piece of a sentence each.
std::vector<const char*> events_at(const Computation& computed, const Limits& limits, Index token) {
  std::vector<const char*> events;
  const bool by_beta = computed.written_by == "beta";
  const TokenFacts& facts = entry(computed.tokens, token);
  const Recall* recall = computed.recall(token);
  if (facts.written && *facts.written > 0 && *facts.written >= limits.written)
    events.push_back(by_beta ? "erases and writes strongly" : "writes strongly");
  if (by_beta && facts.written && *facts.written > 1 + 1e-9) events.push_back("overshoots its value");
  if (facts.alpha && 1 - *facts.alpha > limits.faded) events.push_back("decays more than most tokens");
  if (recall && !(error_before(*recall) <= limits.error))
    events.push_back("has a larger error before its write than most tokens");
  if (computed.divergence && computed.divergence->cause_token == token)
    events.push_back("makes the memory diverge");
  if (computed.divergence && computed.divergence->token == token)
    events.push_back("is where the memory diverges");
  const auto parts = [&](const auto& form) { return form->first_bad_token == token; };
  if (std::ranges::any_of(computed.forms, parts)) events.push_back("is the first at which a form differs");
  return events;
}

}  // namespace

const char* events_in_words() {
  return "A strong write: among the strongest 5 % and at least half the strongest. Also an overshoot, a "
         "decay or an error among the largest 5 %, a diverging memory, a form that differs";
}

std::optional<EventMark> next_mark(const Computation& computed, Index token, int direction) {
  const Limits limits = limits_of(computed);
  const auto count = static_cast<Index>(computed.tokens.size());
  for (Index t = token + direction; t >= 0 && t < count; t += direction) {
    const std::vector<const char*> events = events_at(computed, limits, t);
    if (!events.empty()) return EventMark{t, fmt::format("{}", fmt::join(events, ", "))};
  }
  return std::nullopt;
}

}  // namespace palimpsest
