#include "core/race/lines.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <iterator>
#include <set>

#include "core/cases/random_case.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

template <class Value>
bool lets_pass(const std::vector<Value>& list, const Value& value) {
  return list.empty() || is_among(value, list);
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

template <class Part>
bool differs(const RaceLine& line, std::span<const RaceLine> among, Part RaceEntry::*part) {
  return std::ranges::any_of(among, [&](const RaceLine& other) { return other.of.*part != line.of.*part; });
}

bool has_other_rules(const RaceLine& line, std::span<const RaceLine> among) {
  return std::ranges::any_of(
      among, [&](const RaceLine& other) { return !other.any_form && other.of.variant != line.of.variant; });
}

bool has_other_chunks(const RaceLine& line, std::span<const RaceLine> among) {
  return std::ranges::any_of(among, [&](const RaceLine& other) {
    return !other.any_form && other.of.form == line.of.form && other.of.chunk_size != line.of.chunk_size;
  });
}

struct Told {
  const std::vector<RaceLine>& lines;
  const Lead& lead;
  bool whole;
};

std::string called(const Told& told, std::size_t which) { return called(told.lines[which], told.lines); }

/// The same without "the … form".
std::string briefly(const Told& told, std::size_t which) {
  std::string words = called(told, which);
  if (!words.starts_with("the ")) return words;
  words.erase(0, std::string_view("the ").size());
  return words.erase(words.find(" form"), std::string_view(" form").size());
}

std::string capitalised(std::string words) {
  if (words.starts_with("the ")) words.front() = 'T';
  if (words.starts_with("softmax")) words.front() = 'S';
  return words;
}

const RacePoint* point_at(const RaceLine& line, Index tokens) {
  return row_called(line.points, tokens, [](const RacePoint& point) { return point.entry.tokens; });
}

std::string less_than_spread(const LineCrossing& crossing) {
  return crossing.parts ? "" : ", by less than the spread of the runs";
}

/// Whether `other` is where the curves of `each` cross back later.
bool turns_back(const LineCrossing& each, const LineCrossing& other) {
  return other.tokens > each.tokens && other.faster == each.slower && other.slower == each.faster;
}

std::string shared_words(const RaceEntry& one, const RaceEntry& other) {
  std::vector<std::string> words;
  if (one.device == other.device) words.push_back(one.device);
  if (one.precision == other.precision) words.emplace_back(name(one.precision));
  words.push_back(in_words(shape_of(one)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<NamedCrossing> named_crossings(const Told& told) {
  std::vector<NamedCrossing> all;
  for (const LineCrossing& each : told.lead.crossings) {
    const auto next = std::ranges::find_if(
        told.lead.crossings, [&](const LineCrossing& other) { return turns_back(each, other); });
    const std::string from =
        next == told.lead.crossings.end()
            ? fmt::format("From n ≈ {} tokens on", about(each.tokens))
            : fmt::format("From n ≈ {} to {} tokens", about(each.tokens), about(next->tokens));
    all.push_back({.crossing = each,
                   .words = fmt::format("{} overtakes {}{}", briefly(told, each.faster),
                                        briefly(told, each.slower), each.parts ? "" : ", within the spread"),
                   .sentence = fmt::format("{}, {} is faster than {}{}.", from, called(told, each.faster),
                                           called(told, each.slower), less_than_spread(each)),
                   .where = shared_words(told.lines[each.faster].of, told.lines[each.slower].of)});
  }
  return all;
}

/// Whether a crossing holds up to the longest length that both have: then something can be said from it on.
bool holds(const Told& told, const LineCrossing& crossing) {
  const RaceLine& faster = told.lines[crossing.faster];
  const RaceLine& slower = told.lines[crossing.slower];
  const auto end =
      static_cast<double>(std::min(faster.points.back().entry.tokens, slower.points.back().entry.tokens));
  return seconds_at(faster, end, told.whole)->median < seconds_at(slower, end, told.whole)->median;
}

/// "From n ≈ 820 tokens on, the chunkwise form is faster than softmax; from n ≈ 3,200 tokens on, the
/// recurrent form too." Marks the crossings that it names, at most `most_told`; empty where none that answers
/// a question holds up to the end.
std::string crossing_sentence(const Told& told, std::vector<NamedCrossing>& crossings,
                              std::size_t most_told) {
  for (NamedCrossing& named : crossings) named.is_told = false;
  std::vector<const LineCrossing*> said;
  std::string sentence;
  for (NamedCrossing& named : crossings) {
    const LineCrossing& each = named.crossing;
    if (!each.is_clear || !each.question || told.lines[each.faster].any_form || said.size() == most_told)
      continue;
    const auto crosses_back = [&](const NamedCrossing& other) { return turns_back(each, other.crossing); };
    if (!holds(told, each) || std::ranges::any_of(crossings, crosses_back)) continue;
    if (!said.empty() && (each.slower != said[0]->slower || each.question != said[0]->question)) continue;
    if (is_among(each.faster, said, &LineCrossing::faster)) continue;
    sentence += said.empty() ? fmt::format("From n ≈ {} tokens on, {} is faster than {}", about(each.tokens),
                                           called(told, each.faster), called(told, each.slower))
                             : fmt::format("; from n ≈ {} tokens on, {} too", about(each.tokens),
                                           called(told, each.faster));
    said.push_back(&each);
    named.is_told = true;
  }
  return sentence.empty() ? sentence : sentence + '.';
}

/// The crossing at which the last curve of the bar took the lead; null where another curve ended there.
NamedCrossing* last_change(const Told& told, std::vector<NamedCrossing>& crossings) {
  const auto last =
      std::ranges::find_if(crossings.rbegin(), crossings.rend(), [&](const NamedCrossing& each) {
        return each.crossing.leads && each.crossing.faster == told.lead.spans.back().line;
      });
  constexpr double rounding = 1e-9;
  const bool begins_it = last != crossings.rend() &&
                         std::abs(last->crossing.tokens / told.lead.spans.back().from - 1) < rounding;
  return begins_it ? &*last : nullptr;
}

std::string fastest_sentence(const Told& told, std::vector<NamedCrossing>& crossings) {
  const std::vector<FastestSpan>& spans = told.lead.spans;
  if (spans.empty() || told.lines.size() == 1) return {};
  const std::string winner = called(told, spans.back().line);
  if (spans.size() == 1) return capitalised(winner) + " is fastest at every length measured.";
  NamedCrossing* const change = last_change(told, crossings);
  if (!change) {
    const auto begin = static_cast<Index>(std::lround(spans.back().from));
    return fmt::format("Above n = {} tokens, {} is the fastest of those measured there.", in_digits(begin),
                       winner);
  }
  change->is_told = true;
  return fmt::format("From n ≈ {} tokens on, {} is fastest{}.", about(change->crossing.tokens), winner,
                     less_than_spread(change->crossing));
}

/// The headline: the crossings; or, where none of them changes the lead, the fastest curve and one crossing.
std::string headline(const Told& told, std::vector<NamedCrossing>& crossings) {
  constexpr std::size_t most_told = 3;
  std::string sentence = crossing_sentence(told, crossings, most_told);
  const auto first = std::ranges::find_if(crossings, &NamedCrossing::is_told);
  if (first == crossings.end()) return fastest_sentence(told, crossings);
  const bool is_lead = first->crossing.leads && first->crossing.faster == told.lead.spans.back().line;
  if (is_lead) return sentence;
  sentence = crossing_sentence(told, crossings, 1);
  sentence.front() = 'f';
  std::string fastest = fastest_sentence(told, crossings);
  fastest.back() = ';';
  return fastest + ' ' + sentence;
}

/// The curves of plain kernels where bf16 would have tensor core kernels, "chunkwise and softmax": their
/// times say little about the form. Empty where there is none, or the fastest is one.
std::string held_back(const Told& told) {
  if (told.lead.spans.empty()) return {};
  const auto is_held_back = [&](std::size_t which) {
    const RaceLine& line = told.lines[which];
    return line.kernel == KernelKind::plain && !line.points.empty() &&
           has_tensor_cores(line.points.back().entry);
  };
  if (is_held_back(told.lead.spans.back().line)) return {};
  std::vector<std::string> names;
  for (std::size_t which = 0; which < told.lines.size(); ++which) {
    if (is_held_back(which)) names.push_back(briefly(told, which));
  }
  constexpr std::size_t most_named = 2;
  if (names.size() > most_named) return "chunkwise forms";
  return fmt::format("{}", fmt::join(names, " and "));
}

constexpr double as_long = 1.05;  // ratio of two times up to which they count as equal

/// "At n = 8,192 tokens: chunkwise 0.52 s, softmax 4.42 s, 8.5 times as long."
std::string end_sentence(const Told& told, Index tokens, std::size_t fastest, std::size_t other) {
  const double one = seconds_of(*point_at(told.lines[fastest], tokens), told.whole).median;
  const double two = seconds_of(*point_at(told.lines[other], tokens), told.whole).median;
  const double ratio = two / one;
  return fmt::format(
      "At n = {} tokens: {} {}, {} {}, {}.", in_digits(tokens), briefly(told, fastest), duration(one),
      briefly(told, other), duration(two),
      ratio < as_long ? "about as long" : fmt::format("{:.{}f} times as long", ratio, ratio < 9.95 ? 1 : 0));
}

/// Whether a curve that takes part in the lead has a point there.
bool has_point(const Told& told, std::size_t which, Index tokens) {
  return told.lines[which].points.size() > 1 && point_at(told.lines[which], tokens);
}

/// The fastest curve at a length other than `line`; nothing where there is none.
std::optional<std::size_t> second_at(const Told& told, Index tokens, std::size_t line) {
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < told.lines.size(); ++i) {
    if (i == line || !has_point(told, i, tokens)) continue;
    const double seconds = seconds_of(*point_at(told.lines[i], tokens), told.whole).median;
    if (best && seconds >= least) continue;
    best = i;
    least = seconds;
  }
  return best;
}

/// How far the fastest is ahead at both ends of the bar: of the curve that the headline compares it with,
/// else of the next one.
std::string detail(const Told& told, const std::vector<NamedCrossing>& crossings) {
  const std::vector<FastestSpan>& spans = told.lead.spans;
  const std::size_t last = spans.back().line;
  const Index longest = told.lines[last].points.back().entry.tokens;
  std::optional<std::size_t> other = second_at(told, longest, last);
  for (const NamedCrossing& each : crossings) {
    if (!each.is_told || each.crossing.faster != last || !has_point(told, each.crossing.slower, longest))
      continue;
    other = each.crossing.slower;
    break;
  }
  std::string words = other ? end_sentence(told, longest, last, *other) : std::string();
  const std::size_t first = spans.front().line;
  const Index shortest = told.lines[first].points.front().entry.tokens;
  if (shortest == longest) return words;
  other = first != last && has_point(told, last, shortest) ? last : second_at(told, shortest, first);
  if (other) words += (words.empty() ? "" : " ") + end_sentence(told, shortest, first, *other);
  return words;
}

}  // namespace

bool has_tensor_cores(const RaceEntry& entry) try {
  const Variant* const variant = row_called(variants(), entry.variant, &Variant::id);
  if (!variant || entry.form != Form::chunkwise) return false;
  if (hands_on(*variant, "k_cache"))  // softmax, whose keys decay where their gates are handed on
    return fits_tensor_cores(entry.dk, entry.dv, hands_on(*variant, "g_cache"));
  const RowRule* const rows = variant->rule->row_program();
  if (!rows) return false;
  const Settings settings = random_settings(*variant, {}, 1);
  const Arrays head = random_arrays(*variant, settings, {.tokens = 1, .dk = entry.dk, .dv = entry.dv});
  const auto one =
      std::make_shared<const Arrays>(repeated_heads(*variant, settings, head, 1, 1, Precision::f32));
  const SequenceBatch batch = bind(*variant, one, settings);
  const Program<float> empty = rows->encode<float>(batch.heads.front(), 0, 0);
  return fit_tensor_cores(empty.structure, empty.k.cols());  // with the columns that the rule adds
} catch (const Error&) {                                     // no such program at this size
  return false;
}

RaceShape shape_of(const RaceEntry& entry) { return {entry.batches, entry.heads, entry.dk, entry.dv}; }

std::string in_words(const RaceShape& shape) {
  const std::string channels =
      shape.dk == shape.dv ? fmt::format("D {}", shape.dk) : fmt::format("K {} · V {}", shape.dk, shape.dv);
  return fmt::format("B {} · H {} · {}", shape.batches, shape.heads, channels);
}

std::vector<RaceShape> race_shapes(const RaceReport& report) {
  std::vector<RaceShape> shapes;
  std::set<RaceShape> seen;
  for (const RacePoint& point : report.points) {
    const RaceShape shape = shape_of(point.entry);
    if (point.measured() && seen.insert(shape).second) shapes.push_back(shape);
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

std::vector<RaceLine> race_lines(const RaceReport& report, bool whole, bool joins_forms) {
  // The forms of softmax are one curve only where something else was raced.
  joins_forms = joins_forms && std::ranges::any_of(report.points, [](const RacePoint& point) {
                  return point.entry.variant != race_peer;
                });
  std::vector<RaceLine> lines;
  for (const RacePoint& point : report.points) {
    const bool any_form = joins_forms && point.entry.variant == race_peer;
    RaceEntry of = point.entry;  // without what varies along its curve
    of.tokens = 0;
    if (any_form) {
      of.form = Form::recurrent;
      of.chunk_size = 0;
    }
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

std::optional<Quartiles> seconds_at(const RaceLine& line, double tokens, bool whole) {
  if (line.points.size() < 2) return std::nullopt;
  const double at = std::log(tokens);
  const auto place = [](const RacePoint& point) { return std::log(static_cast<double>(point.entry.tokens)); };
  const auto after =
      std::partition_point(line.points.begin() + 1, line.points.end(),
                           [&](const RacePoint& point) { return place(point) + same_length < at; });
  if (after == line.points.end()) return std::nullopt;
  const auto before = std::prev(after);
  const double left = place(*before);
  const double right = place(*after);
  if (at < left - same_length) return std::nullopt;
  const auto between = [&](double Quartiles::*part) {
    return std::exp(std::lerp(std::log(seconds_of(*before, whole).*part),
                              std::log(seconds_of(*after, whole).*part), (at - left) / (right - left)));
  };
  return Quartiles{between(&Quartiles::low), between(&Quartiles::median), between(&Quartiles::high)};
}

std::string name_of(const RaceLine& line, std::span<const RaceLine> among) {
  std::string words;
  if (line.any_form) {
    words = line.of.variant;
  } else {
    if (has_other_rules(line, among)) words = race_label(line.of.variant) + " ";
    words += name(line.of.form);
    if (line.of.chunk_size > 0) words += fmt::format(", C = {}", line.of.chunk_size);
  }
  if (differs(line, among, &RaceEntry::device)) words += ", " + line.of.device;
  if (differs(line, among, &RaceEntry::precision)) words += fmt::format(", {}", name(line.of.precision));
  return words;
}

std::string called(const RaceLine& line, std::span<const RaceLine> among) {
  std::string words;
  if (line.any_form)
    words = line.of.variant;
  else if (has_other_rules(line, among))
    words = fmt::format("{} ({})", race_label(line.of.variant), name(line.of.form));
  else
    words = fmt::format("the {} form", name(line.of.form));
  if (!line.any_form && has_other_chunks(line, among))
    words += fmt::format(" in chunks of {}", line.of.chunk_size);
  if (differs(line, among, &RaceEntry::device)) words += " on " + line.of.device;
  if (differs(line, among, &RaceEntry::precision)) words += fmt::format(" in {}", name(line.of.precision));
  return words;
}

RaceFigures race_figures(std::span<const RaceReport* const> reports, std::size_t leading,
                         const RaceSelection& selection, bool whole) {
  RaceFigures figures;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    figures.lines.push_back(race_lines(selected(*reports[i], selection), whole));
    std::vector<RaceLine>& lines = figures.lines.back();
    for (RaceLine& line : lines) {
      line.name = name_of(line, lines);
      if (!line.points.empty()) line.kernel = line.points.back().kernel;
    }
    if (i != leading) continue;
    const Lead ahead = lead(lines, whole);
    const Told told = {lines, ahead, whole};
    figures.fastest = ahead.spans;
    figures.crossings = named_crossings(told);
    figures.headline = headline(told, figures.crossings);
    if (figures.headline.empty()) continue;
    figures.detail = detail(told, figures.crossings);
    const std::string plain = held_back(told);
    if (plain.empty()) continue;
    figures.headline.back() = ';';
    figures.headline += fmt::format(" {} without tensor cores.", plain);
    figures.detail += " Tensor cores compute in bf16 and tf32.";
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
