#include "core/race/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/engines/device_engines.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

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

/// Of the programs of a rule of rows.
struct ProgramSize {
  Structure structure;
  Index K = 0;  // with the columns that the rule adds
};

const Variant* variant_of(const RaceEntry& entry, std::span<const Variant> table) {
  const auto found = std::ranges::find(table, entry.variant, &Variant::id);
  return found == table.end() ? nullptr : &*found;
}

/// What the programs are that an entry runs; nothing where its rule has none, or not at this size.
std::optional<ProgramSize> programs_of(const Variant& variant, const RaceEntry& entry) try {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows) return std::nullopt;
  const Settings settings = random_settings(variant, {}, 1);
  const Arrays head = random_arrays(variant, settings, {.tokens = 1, .dk = entry.dk, .dv = entry.dv});
  const auto one =
      std::make_shared<const Arrays>(repeated_heads(variant, settings, head, 1, 1, Precision::f32));
  const SequenceBatch batch = bind(variant, one, settings);
  const Program<float> empty = rows->encode<float>(batch.heads.front(), 0, 0);
  return ProgramSize{empty.structure, empty.k.cols()};
} catch (const Error&) {
  return std::nullopt;
}

bool hands_on(const Variant& variant, std::string_view state) {
  return std::ranges::find(variant.states, state, &State::name) != variant.states.end();
}

}  // namespace

bool has_tensor_cores(const RaceEntry& entry, std::span<const Variant> table) {
  const Variant* const variant = variant_of(entry, table);
  if (!variant || entry.form != Form::chunkwise) return false;
  if (hands_on(*variant, "k_cache"))  // softmax, whose keys fade where their gates are handed on
    return fits_tensor_cores(entry.dk, entry.dv, hands_on(*variant, "g_cache"));
  const std::optional<ProgramSize> programs = programs_of(*variant, entry);
  return programs && fit_tensor_cores(programs->structure, programs->K);
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
  joins_forms = joins_forms && has_others(report);
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

}  // namespace palimpsest
