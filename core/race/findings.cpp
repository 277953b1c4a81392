#include "core/race/lines.h"

#include <fmt/format.h>

#include <set>

namespace palimpsest {

namespace {

struct SharedLength {
  double tokens;  // logarithms
  double first;   // of the median
  double second;  // of the median
  int ahead;      // 1 the first curve, -1 the second, 0 neither
  double lead() const { return second - first; }
};

std::vector<SharedLength> shared_lengths(const std::vector<TimedLength>& first,
                                         const std::vector<TimedLength>& second) {
  std::vector<SharedLength> pairs;
  auto other = second.begin();
  for (const TimedLength& one : first) {
    while (other != second.end() && other->tokens < one.tokens) ++other;
    if (other == second.end()) break;
    if (other->tokens != one.tokens) continue;
    const int ahead = one.seconds.below(other->seconds) ? 1 : other->seconds.below(one.seconds) ? -1 : 0;
    pairs.push_back(
        {std::log(one.tokens), std::log(one.seconds.median), std::log(other->seconds.median), ahead});
  }
  return pairs;
}

/// The last place between `from` and `to` where the medians change their order, for the curve that is ahead
/// at `to`.
Crossing between(const std::vector<SharedLength>& pairs, std::size_t from, std::size_t to) {
  const int ahead = pairs[to].ahead;
  std::size_t before = to - 1;
  while (before > from && pairs[before].lead() * ahead > 0) --before;
  const SharedLength& left = pairs[before];
  const SharedLength& right = pairs[before + 1];
  const double part = left.lead() / (left.lead() - right.lead());
  return {.tokens = std::exp(std::lerp(left.tokens, right.tokens, part)),
          .seconds = std::exp(std::lerp(left.first, right.first, part)),
          .first_is_faster = ahead > 0};
}

std::string in_form(const RaceEntry& entry) {
  if (entry.chunk_size == 0) return name(entry.form);
  return fmt::format("{}, C = {}", name(entry.form), entry.chunk_size);
}

/// Whether both sides of a comparison run on one device.
bool is_on_one_device(RaceQuestion question) {
  return question == RaceQuestion::softmax || question == RaceQuestion::forms;
}

std::string where(const RaceEntry& one, RaceQuestion question) {
  return (is_on_one_device(question) ? one.device + ", " : "") + fmt::format("{}, B {}, H {}, K {}, V {}",
                                                                             name(one.precision), one.batches,
                                                                             one.heads, one.dk, one.dv);
}

/// The name of a side of a comparison in a sentence.
std::string called(const RaceEntry& entry, RaceQuestion question) {
  const std::string rule = race_label(entry.variant);
  if (question == RaceQuestion::softmax && entry.variant == race_peer) return rule;
  const std::string words = fmt::format("{} ({})", rule, in_form(entry));
  return is_on_one_device(question) ? words : fmt::format("{} on {}", words, entry.device);
}

std::vector<TimedLength> times_of(const RaceLine& line, bool whole) {
  return made_of(line.points, [&](const RacePoint& point) {
    return TimedLength{static_cast<double>(point.entry.tokens), seconds_of(point, whole)};
  });
}

void add_crossings(const RaceLine& one, const RaceLine& other, RaceQuestion question,
                   std::vector<RaceCrossover>& found) {
  const bool whole = question == RaceQuestion::whole_devices;
  const std::vector<Crossing> all = crossings(times_of(one, whole), times_of(other, whole));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RaceEntry& faster = all[i].first_is_faster ? one.of : other.of;
    const RaceEntry& slower = all[i].first_is_faster ? other.of : one.of;
    const std::string span =
        i + 1 < all.size()
            ? fmt::format("From about {} to about {} tokens", about(all[i].tokens), about(all[i + 1].tokens))
            : fmt::format("From about {} tokens on", about(all[i].tokens));
    found.push_back({.question = question,
                     .tokens = all[i].tokens,
                     .seconds = all[i].seconds,
                     .sentence = fmt::format("{}, {} is faster than {}{}{}.", span, called(faster, question),
                                             called(slower, question), i > 0 ? " again" : "",
                                             whole ? ", transfers counted" : ""),
                     .where = where(one.of, question)});
  }
}

/// The question that comparing two curves answers, if any.
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

bool is_same_length(double one, double other) { return std::abs(std::log(one / other)) < same_length; }

/// The lengths at which one of two curves bends, where both exist.
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
  return made_of(lengths, [&](double tokens) {
    return TimedLength{tokens, *seconds_at(line, tokens, whole)};
  });
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
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const std::optional<Quartiles> time = seconds_at(lines[line], std::sqrt(from * to), whole);
      if (!time || (best && time->median >= least)) continue;
      best = line;
      least = time->median;
    }
    if (!best) continue;
    if (!spans.empty() && spans.back().line == *best && is_same_length(spans.back().to, from))
      spans.back().to = to;
    else
      spans.push_back({from, to, *best});
  }
  return spans;
}

}  // namespace

std::vector<Crossing> crossings(const std::vector<TimedLength>& first,
                                const std::vector<TimedLength>& second) {
  const std::vector<SharedLength> pairs = shared_lengths(first, second);
  std::vector<Crossing> found;
  std::size_t last = pairs.size();  // where a curve was ahead
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].ahead == 0) continue;
    if (last < pairs.size() && pairs[last].ahead != pairs[i].ahead) found.push_back(between(pairs, last, i));
    last = i;
  }
  return found;
}

std::string about(double tokens) {
  const double digit = std::pow(10.0, std::max(std::floor(std::log10(std::max(tokens, 1.0))) - 1, 0.0));
  return in_groups(fmt::format("{:.0f}", std::round(tokens / digit) * digit));
}

std::vector<RaceCrossover> race_crossovers(const RaceReport& report) {
  std::vector<RaceCrossover> found;
  const auto compare = [&](RaceQuestion question, bool (*is_first)(const RaceEntry&)) {
    const bool is_with_peer = question == RaceQuestion::softmax;
    const bool whole = question == RaceQuestion::whole_devices;
    const std::vector<RaceLine> lines = race_lines(report, whole, is_with_peer);
    for (const RaceLine& one : lines) {
      if (!is_first(one.of)) continue;
      for (const RaceLine& other : lines) {
        if (shape_of(one.of) != shape_of(other.of) || question_of(one, other, whole) != question) continue;
        add_crossings(is_with_peer ? other : one, is_with_peer ? one : other, question, found);
      }
    }
  };
  const auto is_elsewhere = [](const RaceEntry& entry) { return entry.device != "cpu"; };
  compare(RaceQuestion::softmax, [](const RaceEntry& entry) { return entry.variant == race_peer; });
  compare(RaceQuestion::forms, [](const RaceEntry& entry) { return entry.form == Form::chunkwise; });
  compare(RaceQuestion::devices, is_elsewhere);
  compare(RaceQuestion::whole_devices, is_elsewhere);
  return found;
}

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
