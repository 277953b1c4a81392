#include "app/views/underlined_words.h"

namespace palimpsest {

namespace {

constexpr Index look_back = 16384;
constexpr std::size_t usually_asked = 6;

/// The tokens that a view named last, and in which frame.
struct Named {
  int frame = -2;
  std::vector<Index> words;
};

}  // namespace

void name_words(std::vector<Index> tokens) { context_local<Named>() = {scene::frame(), std::move(tokens)}; }

std::vector<double> write_strengths(std::span<const TokenFacts> tokens) {
  std::vector<double> strengths;
  strengths.reserve(tokens.size());
  for (const TokenFacts& facts : tokens) {
    const double written = facts.written.value_or(0);
    strengths.push_back(std::isfinite(written) ? written : 0);
  }
  return strengths;
}

std::vector<Index> strongest_writes(std::span<const double> strengths, std::span<const std::string> labels,
                                    Index reached, std::size_t most) {
  const Index end = std::min<Index>(reached, static_cast<Index>(strengths.size()));
  const Index begin = std::max<Index>(end - look_back, 0);
  const auto strength = [&](Index t) { return entry(strengths, t); };
  double strongest = 0;
  for (Index t = begin; t < end; ++t) strongest = std::max(strongest, strength(t));
  std::vector<Index> found;
  for (Index t = begin; t < end; ++t) {
    if (strength(t) > 0 && strength(t) >= strongest / 2) found.push_back(t);
  }
  // A heap finds the few strongest of many without sorting all; of equal ones the first.
  const auto is_behind = [&](Index x, Index y) {
    return strength(x) != strength(y) ? strength(x) < strength(y) : x > y;
  };
  std::ranges::make_heap(found, is_behind);
  std::vector<Index> words;
  while (!found.empty() && words.size() < most) {
    std::ranges::pop_heap(found, is_behind);
    const Index t = found.back();
    found.pop_back();
    const auto label = visible_label(entry(labels, t));
    const bool is_known =
        std::ranges::any_of(words, [&](Index known) { return visible_label(entry(labels, known)) == label; });
    if (!is_known) words.push_back(t);
  }
  std::ranges::sort(words);
  return words;
}

const std::vector<Index>& underlined_words(const Session& session) {
  const Named& named = context_local<Named>();
  if (named.frame + 1 >= scene::frame()) return named.words;
  const Computation& computed = *session.computed();
  const std::vector<double>& strengths =
      kept_for(computed.version, [&] { return write_strengths(computed.tokens); });
  return kept_for(std::pair(computed.version, session.token()), [&] {
    return strongest_writes(strengths, computed.data->labels, session.token() + 1, usually_asked);
  });
}

}  // namespace palimpsest
