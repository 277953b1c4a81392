#include "core/race/fastest.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/race/crossing.h"
#include "core/race/naming.h"

namespace palimpsest {

namespace {

constexpr double same_length = 1e-9;  // of logarithms of lengths: what rounding alone tells apart

bool is_same_length(double one, double other) { return std::abs(std::log(one / other)) < same_length; }

/// What two curves are compared for, if they are.
std::optional<RaceQuestion> question_of(const RaceLine& one, const RaceLine& other, bool whole) {
  const RaceEntry& a = one.of;
  const RaceEntry& b = other.of;
  if (a.precision != b.precision) return std::nullopt;
  if (a.device != b.device) {
    const bool is_same_work = a.variant == b.variant && one.any_form == other.any_form &&
                              (one.any_form || (a.form == b.form && a.chunk_size == b.chunk_size));
    if (!is_same_work || (a.device != "cpu" && b.device != "cpu")) return std::nullopt;
    return whole ? RaceQuestion::whole_devices : RaceQuestion::devices;
  }
  if (a.variant != b.variant) {
    if (a.variant == race_peer || b.variant == race_peer) return RaceQuestion::softmax;
    return std::nullopt;
  }
  const auto is_pair = [](Form x, Form y) { return x == Form::chunkwise && y == Form::recurrent; };
  if (is_pair(a.form, b.form) || is_pair(b.form, a.form)) return RaceQuestion::forms;
  return std::nullopt;
}

/// The lengths at which one of two curves bends, as far as there are both.
std::vector<double> shared_bends(const RaceLine& one, const RaceLine& other, bool whole) {
  std::set<double> bends;
  for (const RaceLine* const line : {&one, &other}) {
    for (const RacePoint& point : line->points) {
      const auto tokens = static_cast<double>(point.entry.tokens);
      if (seconds_at(one, tokens, whole) && seconds_at(other, tokens, whole)) bends.insert(tokens);
    }
  }
  return {bends.begin(), bends.end()};
}

std::vector<TimedLength> at_lengths(const RaceLine& line, const std::vector<double>& lengths, bool whole) {
  std::vector<TimedLength> all;
  for (const double tokens : lengths) all.push_back({tokens, *seconds_at(line, tokens, whole)});
  return all;
}

std::vector<TimedLength> medians(std::vector<TimedLength> all) {
  for (TimedLength& each : all)
    each.seconds = {each.seconds.median, each.seconds.median, each.seconds.median};
  return all;
}

/// Whether the middle half of a curve's runs lies below that of another one at some length in between.
bool come_apart(const std::vector<TimedLength>& faster, const std::vector<TimedLength>& slower, double from,
                double until) {
  for (std::size_t i = 0; i < faster.size(); ++i) {
    const bool is_between = faster[i].tokens >= from && faster[i].tokens <= until;
    if (is_between && faster[i].seconds.below(slower[i].seconds)) return true;
  }
  return false;
}

/// All crossings of any two curves by their medians, short lengths first.
std::vector<LineCrossing> all_crossings(std::span<const RaceLine> lines, bool whole) {
  std::vector<LineCrossing> all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      const std::vector<double> lengths = shared_bends(lines[i], lines[j], whole);
      const std::vector<TimedLength> one = at_lengths(lines[i], lengths, whole);
      const std::vector<TimedLength> other = at_lengths(lines[j], lengths, whole);
      const std::vector<Crossing> clear = crossings(one, other);
      const std::vector<Crossing> found = crossings(medians(one), medians(other));
      for (std::size_t k = 0; k < found.size(); ++k) {
        const Crossing& each = found[k];
        const double until = k + 1 < found.size() ? found[k + 1].tokens : lengths.back();
        const bool is_clear = std::ranges::any_of(
            clear, [&](const Crossing& far) { return is_same_length(far.tokens, each.tokens); });
        all.push_back({.tokens = each.tokens,
                       .seconds = each.seconds,
                       .faster = each.first_is_faster ? i : j,
                       .slower = each.first_is_faster ? j : i,
                       .is_clear = is_clear,
                       .parts = each.first_is_faster ? come_apart(one, other, each.tokens, until)
                                                     : come_apart(other, one, each.tokens, until),
                       .question = question_of(lines[i], lines[j], whole)});
      }
    }
  }
  std::ranges::stable_sort(all, {}, &LineCrossing::tokens);
  return all;
}

/// The lowest curve at a length.
std::optional<std::size_t> fastest_at(std::span<const RaceLine> lines, double tokens, bool whole) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::optional<Quartiles> time = seconds_at(lines[line], tokens, whole);
    if (!time || (best && time->median >= least)) continue;
    best = line;
    least = time->median;
  }
  return best;
}

std::vector<FastestSpan> spans_of(std::span<const RaceLine> lines, const std::vector<LineCrossing>& all,
                                  bool whole) {
  std::set<double> changes;  // where curves begin, bend, end and cross: between them one stays below
  for (const RaceLine& line : lines) {
    for (const RacePoint& point : line.points) changes.insert(static_cast<double>(point.entry.tokens));
  }
  for (const LineCrossing& each : all) changes.insert(each.tokens);
  std::vector<FastestSpan> spans;
  for (auto right = changes.begin(); right != changes.end(); ++right) {
    if (right == changes.begin()) continue;
    const double from = *std::prev(right);
    const double to = *right;
    if (is_same_length(from, to)) continue;
    const std::optional<std::size_t> best = fastest_at(lines, std::sqrt(from * to), whole);
    if (!best) continue;
    if (!spans.empty() && spans.back().line == *best && is_same_length(spans.back().to, from))
      spans.back().to = to;
    else
      spans.push_back({from, to, *best});
  }
  return spans;
}

}  // namespace

Lead lead(std::span<const RaceLine> lines, bool whole) {
  Lead found = {.spans = {}, .crossings = all_crossings(lines, whole)};
  found.spans = spans_of(lines, found.crossings, whole);
  for (LineCrossing& each : found.crossings) {
    for (std::size_t i = 0; i + 1 < found.spans.size(); ++i) {
      const FastestSpan& before = found.spans[i];
      const FastestSpan& after = found.spans[i + 1];
      each.leads =
          each.leads || (before.line == each.slower && after.line == each.faster &&
                         is_same_length(before.to, each.tokens) && is_same_length(after.from, each.tokens));
    }
  }
  std::erase_if(found.crossings,
                [](const LineCrossing& each) { return !each.leads && !(each.is_clear && each.question); });
  return found;
}

}  // namespace palimpsest
