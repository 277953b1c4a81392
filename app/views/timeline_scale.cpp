#include "app/views/timeline_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/scales.h"
#include "core/insight/keeping.h"

namespace palimpsest {

namespace {

constexpr double shortest = 0.1;  // words of half-life: no bar
constexpr double longest = 1e4;   // a full one
constexpr double usual = 0.95;    // the share of the lengths that is shown in full

}  // namespace

float half_life_part(double kept) {
  const double words = half_life(std::clamp(kept, 0.0, 1.0));
  const double part = std::log(std::max(words, shortest) / shortest) / std::log(longest / shortest);
  return static_cast<float>(std::min(part, 1.0));
}

std::string half_life_words(double kept) {
  const double words = half_life(std::clamp(kept, 0.0, 1.0));
  if (std::isinf(words)) return "keeps all";
  if (words == 0) return "keeps nothing";
  if (words < 9.5) return fmt::format("half-life {:.2g} {}", words, words == 1 ? "word" : "words");
  if (words < 1e6) return fmt::format("half-life {:.0f} words", words);
  return fmt::format("half-life {:.1g} words", words);
}

LengthScale length_scale(std::vector<double> lengths) {
  std::erase_if(lengths, [](double length) { return !std::isfinite(length); });
  if (lengths.empty()) return {};
  const double largest = std::ranges::max(lengths);
  const double most = quantile(std::move(lengths), usual);
  return {.full = most > 0 ? most : largest, .largest = largest};
}

LengthBar length_bar(double length, double full) {
  if (length == 0) return {};
  if (!(length <= full)) return {.part = 1, .cut = true};
  return {.part = static_cast<float>(length / full)};
}

}  // namespace palimpsest
