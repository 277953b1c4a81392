#include "core/race/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

#include "core/race/naming.h"

namespace palimpsest {

namespace {

constexpr double same_length = 1e-9;  // of logarithms of lengths: what rounding alone tells apart

template <class Value>
bool lets_pass(const std::vector<Value>& list, const Value& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

/// An entry without what its curve runs over: the length, and where forms are taken together the form.
RaceEntry curve_of(RaceEntry entry, bool any_form) {
  entry.tokens = 0;
  if (!any_form) return entry;
  entry.form = Form::recurrent;
  entry.chunk_size = 0;
  return entry;
}

/// Whether something besides the peer was raced: only then its forms are one curve.
bool has_others(const RaceReport& report) {
  return std::ranges::any_of(report.points,
                             [](const RacePoint& point) { return point.entry.variant != race_peer; });
}

/// Puts a point where its length belongs; of two of one length the faster one stays.
void insert(std::vector<RacePoint>& points, const RacePoint& point, bool whole) {
  const auto place = std::ranges::lower_bound(points, point.entry.tokens, {},
                                              [](const RacePoint& each) { return each.entry.tokens; });
  if (place == points.end() || place->entry.tokens != point.entry.tokens)
    points.insert(place, point);
  else if (seconds_of(point, whole).median < seconds_of(*place, whole).median)
    *place = point;
}

/// The logarithm of a curve's time at that of a length; nothing outside of the curve.
std::optional<double> log_seconds(const RaceLine& line, double log_tokens, bool whole) {
  for (std::size_t i = 0; i + 1 < line.points.size(); ++i) {
    const double left = std::log(static_cast<double>(line.points[i].entry.tokens));
    const double right = std::log(static_cast<double>(line.points[i + 1].entry.tokens));
    if (log_tokens < left - same_length || log_tokens > right + same_length) continue;
    return std::lerp(std::log(seconds_of(line.points[i], whole).median),
                     std::log(seconds_of(line.points[i + 1], whole).median),
                     (log_tokens - left) / (right - left));
  }
  return std::nullopt;
}

/// The lengths at which the fastest curve may change, as logarithms: where curves begin, bend, end and cross.
std::vector<double> possible_changes(std::span<const RaceLine> lines, bool whole) {
  std::set<double> lengths;
  for (const RaceLine& line : lines) {
    for (const RacePoint& point : line.points)
      lengths.insert(std::log(static_cast<double>(point.entry.tokens)));
  }
  std::vector<double> all(lengths.begin(), lengths.end());
  const std::size_t bends = all.size();
  for (std::size_t i = 0; i + 1 < bends; ++i) {
    for (std::size_t one = 0; one < lines.size(); ++one) {
      for (std::size_t other = one + 1; other < lines.size(); ++other) {
        const auto a = log_seconds(lines[one], all[i], whole);
        const auto b = log_seconds(lines[other], all[i], whole);
        const auto c = log_seconds(lines[one], all[i + 1], whole);
        const auto d = log_seconds(lines[other], all[i + 1], whole);
        if (!a || !b || !c || !d || (*a - *b) * (*c - *d) >= 0) continue;
        all.push_back(std::lerp(all[i], all[i + 1], (*a - *b) / ((*a - *b) - (*c - *d))));
      }
    }
  }
  std::ranges::sort(all);
  return all;
}

std::size_t line_of(const std::vector<RaceLine>& lines, const RaceEntry& entry) {
  const auto found = std::ranges::find_if(lines, [&](const RaceLine& line) {
    return curve_of(entry, line.any_form) == curve_of(line.of, line.any_form);
  });
  return static_cast<std::size_t>(found - lines.begin());
}

/// The crossings of a report's curves that a chart of computing, or of whole runs, is about.
std::vector<NamedCrossing> named_crossings(const RaceReport& report, const std::vector<RaceLine>& lines,
                                           bool whole, std::span<const Variant> table) {
  std::vector<NamedCrossing> all;
  for (RaceCrossover& crossover : race_crossovers(report, table)) {
    if ((crossover.question == RaceQuestion::whole_devices) != whole) continue;
    const std::size_t faster = line_of(lines, crossover.faster);
    const std::size_t slower = line_of(lines, crossover.slower);
    if (faster == lines.size() || slower == lines.size()) continue;
    std::string words = fmt::format("{} overtakes {}", name_of(lines[faster], lines, table),
                                    name_of(lines[slower], lines, table));
    all.push_back({std::move(crossover), faster, slower, std::move(words)});
  }
  std::ranges::stable_sort(all, {}, [](const NamedCrossing& each) { return each.crossover.tokens; });
  return all;
}

/// Whether another curve has something else there.
template <class Part>
bool differs(const RaceLine& line, std::span<const RaceLine> among, Part RaceEntry::*part) {
  return std::ranges::any_of(among, [&](const RaceLine& other) { return other.of.*part != line.of.*part; });
}

/// Whether there are curves of the forms of another rule.
bool has_other_rules(const RaceLine& line, std::span<const RaceLine> among) {
  return std::ranges::any_of(
      among, [&](const RaceLine& other) { return !other.any_form && other.of.variant != line.of.variant; });
}

/// Whether there are curves of the same form in other chunks.
bool has_other_chunks(const RaceLine& line, std::span<const RaceLine> among) {
  return std::ranges::any_of(among, [&](const RaceLine& other) {
    return !other.any_form && other.of.form == line.of.form && other.of.chunk_size != line.of.chunk_size;
  });
}

/// What a curve is called in a sentence: "the chunkwise form", "Gated DeltaNet (chunkwise) on cuda",
/// "softmax".
std::string called(const RaceLine& line, std::span<const RaceLine> among, std::span<const Variant> table) {
  std::string words;
  if (line.any_form)
    words = line.of.variant;
  else if (has_other_rules(line, among))
    words = fmt::format("{} ({})", race_label(line.of.variant, table), name(line.of.form));
  else
    words = fmt::format("the {} form", name(line.of.form));
  if (!line.any_form && has_other_chunks(line, among))
    words += fmt::format(" in chunks of {}", line.of.chunk_size);
  if (differs(line, among, &RaceEntry::device)) words += " on " + line.of.device;
  if (differs(line, among, &RaceEntry::precision)) words += fmt::format(" in {}", name(line.of.precision));
  return words;
}

std::string capitalised(std::string words) {
  if (words.starts_with("the ")) words.front() = 'T';
  if (words.starts_with("softmax")) words.front() = 'S';
  return words;
}

const RacePoint* point_at(const RaceLine& line, Index tokens) {
  const auto found =
      std::ranges::find_if(line.points, [&](const RacePoint& point) { return point.entry.tokens == tokens; });
  return found == line.points.end() ? nullptr : &*found;
}

/// The ends of what two curves share; 0 where they share nothing.
struct SharedLengths {
  Index shortest = 0;
  Index longest = 0;
};

SharedLengths shared_lengths(const RaceLine& one, const RaceLine& other) {
  SharedLengths ends;
  for (const RacePoint& point : one.points) {
    if (!point_at(other, point.entry.tokens)) continue;
    if (ends.shortest == 0) ends.shortest = point.entry.tokens;
    ends.longest = point.entry.tokens;
  }
  return ends;
}

/// What is told of crossings, and the first that is.
struct ToldCrossings {
  std::string sentence = {};
  const NamedCrossing* first = nullptr;
};

/// "From n ≈ 820 on, the chunkwise form is faster than softmax; from n ≈ 3,200 on, the recurrent form too."
ToldCrossings crossing_sentence(const std::vector<NamedCrossing>& crossings,
                                const std::vector<RaceLine>& lines, bool whole,
                                std::span<const Variant> table) {
  const NamedCrossing* first = nullptr;
  std::vector<std::size_t> told;
  std::string sentence;
  constexpr std::size_t most_told = 3;
  for (const NamedCrossing& each : crossings) {
    // Only where it stays so: no later crossing of the same two.
    const bool stays = std::ranges::none_of(crossings, [&](const NamedCrossing& other) {
      return &other != &each && other.crossover.tokens > each.crossover.tokens &&
             std::minmax(other.faster, other.slower) == std::minmax(each.faster, each.slower);
    });
    const Index end = shared_lengths(lines[each.faster], lines[each.slower]).longest;
    const bool holds = end > 0 && seconds_of(*point_at(lines[each.faster], end), whole).median <
                                      seconds_of(*point_at(lines[each.slower], end), whole).median;
    if (!stays || !holds || lines[each.faster].any_form) continue;
    if (first && (each.slower != first->slower || each.crossover.question != first->crossover.question))
      continue;
    if (std::ranges::find(told, each.faster) != told.end() || told.size() == most_told) continue;
    told.push_back(each.faster);
    if (!first) {
      first = &each;
      sentence =
          fmt::format("From n ≈ {} on, {} is faster than {}", about(each.crossover.tokens),
                      called(lines[each.faster], lines, table), called(lines[each.slower], lines, table));
    } else {
      sentence += fmt::format("; from n ≈ {} on, {} too", about(each.crossover.tokens),
                              called(lines[each.faster], lines, table));
    }
  }
  if (first) sentence += '.';
  return {std::move(sentence), first};
}

/// Whether at the longest length of a curve the middle half of its runs meets that of another.
bool is_within_spread(const std::vector<RaceLine>& lines, std::size_t line, bool whole) {
  const RacePoint& last = lines[line].points.back();
  return std::ranges::any_of(lines, [&](const RaceLine& other) {
    const RacePoint* const point = point_at(other, last.entry.tokens);
    return &other != &lines[line] && point && !seconds_of(last, whole).below(seconds_of(*point, whole));
  });
}

/// Who is fastest where, while nothing crosses for good.
std::string fastest_sentence(const std::vector<FastestSpan>& fastest, const std::vector<RaceLine>& lines,
                             bool whole, std::span<const Variant> table) {
  if (fastest.empty()) return {};
  const FastestSpan& last = fastest.back();
  const std::string winner = called(lines[last.line], lines, table);
  if (fastest.size() == 1) {
    if (lines.size() == 1) return {};
    return capitalised(winner) + " is fastest at every length measured.";
  }
  return fmt::format("From n ≈ {} on, {} is fastest{}.", about(last.from), winner,
                     is_within_spread(lines, last.line, whole) ? ", by less than the runs spread" : "");
}

constexpr double as_long = 1.05;  // one time by another: nobody would call it longer

/// Whether one curve is fastest at every length, on another device than those that cross: that comes first.
bool wins_on_another_device(const std::vector<FastestSpan>& fastest, const NamedCrossing& crossing,
                            const std::vector<RaceLine>& lines) {
  return fastest.size() == 1 && lines[fastest.front().line].of.device != lines[crossing.faster].of.device &&
         lines[fastest.front().line].of.device != lines[crossing.slower].of.device;
}

/// "8.5", "14": how many times.
std::string times_words(double ratio) {
  return ratio < 9.95 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

/// The longer of two times by the shorter.
double apart(double one, double other) { return std::max(one, other) / std::min(one, other); }

/// "At n = 8,192: 0.52 s against 4.42 s, 8.5 times. At n = 64 softmax wins by 5.2."
std::string detail_sentence(const RaceLine& one, const RaceLine& other, const std::vector<RaceLine>& lines,
                            bool whole, std::span<const Variant> table) {
  const auto [shortest, longest] = shared_lengths(one, other);
  if (longest == 0) return {};
  const auto seconds = [&](const RaceLine& line, Index tokens) {
    return seconds_of(*point_at(line, tokens), whole).median;
  };
  const double far_one = seconds(one, longest);
  const double far_other = seconds(other, longest);
  const double far_apart = apart(far_one, far_other);
  std::string words =
      fmt::format("At n = {}: {} against {}, {}.", in_digits(longest), duration(far_one), duration(far_other),
                  far_apart < as_long ? "about as long" : times_words(far_apart) + " times");
  if (shortest == longest) return words;
  const double near_one = seconds(one, shortest);
  const double near_other = seconds(other, shortest);
  const double near_apart = apart(near_one, near_other);
  if (near_apart < as_long)
    return words + fmt::format(" At n = {} they take equally long.", in_digits(shortest));
  const RaceLine& winner = near_one < near_other ? one : other;
  return words + fmt::format(" At n = {} {} wins by {}.", in_digits(shortest), called(winner, lines, table),
                             times_words(near_apart));
}

/// The fastest curve at the longest length but `line`; the number of lines where there is none.
std::size_t second_at_end(const std::vector<RaceLine>& lines, std::size_t line, bool whole) {
  std::size_t best = lines.size();
  double least = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == line || lines[line].points.empty()) continue;
    const RacePoint* const point = point_at(lines[i], lines[line].points.back().entry.tokens);
    if (!point) continue;
    const double seconds = seconds_of(*point, whole).median;
    if (best == lines.size() || seconds < least) {
      best = i;
      least = seconds;
    }
  }
  return best;
}

}  // namespace

RaceShape shape_of(const RaceEntry& entry) { return {entry.batches, entry.heads, entry.dk, entry.dv}; }

std::string in_words(const RaceShape& shape) {
  const std::string channels =
      shape.dk == shape.dv ? fmt::format("D {}", shape.dk) : fmt::format("K {} · V {}", shape.dk, shape.dv);
  return fmt::format("B {} · H {} · {}", shape.batches, shape.heads, channels);
}

std::vector<RaceShape> race_shapes(const RaceReport& report) {
  std::vector<RaceShape> shapes;
  for (const RacePoint& point : report.points) {
    const RaceShape shape = shape_of(point.entry);
    if (point.measured() && std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

bool RaceSelection::takes(const RaceEntry& entry) const {
  return shape_of(entry) == shape && lets_pass(variants, entry.variant) && lets_pass(forms, entry.form) &&
         lets_pass(devices, entry.device) && lets_pass(precisions, entry.precision);
}

RaceReport selected(const RaceReport& report, const RaceSelection& selection) {
  RaceReport left = {.machine = report.machine,
                     .starts = report.starts,
                     .data = report.data,
                     .timing = report.timing,
                     .roofs = report.roofs};
  std::ranges::copy_if(report.points, std::back_inserter(left.points),
                       [&](const RacePoint& point) { return selection.takes(point.entry); });
  return left;
}

const Quartiles& seconds_of(const RacePoint& point, bool whole) {
  return whole ? point.whole : point.compute;
}

std::vector<RaceLine> race_lines(const RaceReport& report, bool whole) {
  const bool joins_forms = has_others(report);
  std::vector<RaceLine> lines;
  for (const RacePoint& point : report.points) {
    const bool any_form = joins_forms && point.entry.variant == race_peer;
    const RaceEntry of = curve_of(point.entry, any_form);
    auto line = std::ranges::find(lines, of, &RaceLine::of);
    if (line == lines.end()) line = lines.insert(lines.end(), {.of = of, .any_form = any_form});
    if (!point.measured())
      line->missing.push_back(point);
    else if (point.entry.tokens > 0 && seconds_of(point, whole).low > 0)  // else it has no logarithm
      insert(line->points, point, whole);
  }
  for (RaceLine& line : lines)
    std::ranges::stable_sort(line.missing, {}, [](const RacePoint& point) { return point.entry.tokens; });
  return lines;
}

std::string name_of(const RaceLine& line, std::span<const RaceLine> among, std::span<const Variant> table) {
  std::string words;
  if (line.any_form) {
    words = line.of.variant;
  } else {
    words = has_other_rules(line, among) ? race_label(line.of.variant, table) + " " : std::string();
    words += name(line.of.form);
    if (line.of.chunk_size > 0) words += fmt::format(", C = {}", line.of.chunk_size);
  }
  if (differs(line, among, &RaceEntry::device)) words += ", " + line.of.device;
  if (differs(line, among, &RaceEntry::precision)) words += fmt::format(", {}", name(line.of.precision));
  return words;
}

std::vector<FastestSpan> fastest_spans(std::span<const RaceLine> lines, bool whole) {
  const std::vector<double> changes = possible_changes(lines, whole);
  std::vector<FastestSpan> spans;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    const double middle = std::midpoint(changes[i], changes[i + 1]);
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const auto time = log_seconds(lines[line], middle, whole);
      if (!time || (best && *time >= least)) continue;
      best = line;
      least = *time;
    }
    if (!best || changes[i + 1] - changes[i] < same_length) continue;
    const double from = std::exp(changes[i]);
    const double to = std::exp(changes[i + 1]);
    const bool goes_on = !spans.empty() && spans.back().line == *best &&
                         std::abs(std::log(spans.back().to / from)) < same_length;
    if (goes_on)
      spans.back().to = to;
    else
      spans.push_back({from, to, *best});
  }
  return spans;
}

RaceFigures race_figures(std::span<const RaceReport* const> reports, std::size_t leading,
                         const RaceSelection& selection, bool whole, std::span<const Variant> table) {
  RaceFigures figures;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const RaceReport part = selected(*reports[i], selection);
    figures.lines.push_back(race_lines(part, whole));
    for (RaceLine& line : figures.lines.back()) line.name = name_of(line, figures.lines.back(), table);
    if (i != leading) continue;
    const std::vector<RaceLine>& lines = figures.lines.back();
    figures.fastest = fastest_spans(lines, whole);
    figures.crossings = named_crossings(part, lines, whole, table);
    ToldCrossings told = crossing_sentence(figures.crossings, lines, whole, table);
    figures.headline = std::move(told.sentence);
    if (figures.headline.empty()) {
      figures.headline = fastest_sentence(figures.fastest, lines, whole, table);
    } else if (wins_on_another_device(figures.fastest, *told.first, lines)) {
      std::string fastest = fastest_sentence(figures.fastest, lines, whole, table);
      fastest.back() = ';';
      figures.headline.front() = 'f';
      figures.headline = fastest + " " + figures.headline;
    }
    if (figures.headline.empty() || figures.fastest.empty()) continue;
    // What the headline compares, or else the fastest at the end with the next one there.
    const std::size_t winner = told.first ? told.first->faster : figures.fastest.back().line;
    const std::size_t other = told.first ? told.first->slower : second_at_end(lines, winner, whole);
    if (other < lines.size())
      figures.detail = detail_sentence(lines[winner], lines[other], lines, whole, table);
  }
  return figures;
}

std::string in_digits(Index tokens) { return in_groups(std::to_string(tokens)); }

std::string duration(double seconds) {
  if (seconds < 999.5e-6) return fmt::format("{:.3g} µs", 1e6 * seconds);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 999.5) return fmt::format("{:.3g} s", seconds);
  return in_groups(fmt::format("{:.0f}", seconds)) + " s";
}

}  // namespace palimpsest
