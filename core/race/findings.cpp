#include "core/race/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/race/naming.h"

namespace palimpsest {

namespace {

std::string in_form(const RaceEntry& entry) {
  if (entry.chunk_size == 0) return name(entry.form);
  return fmt::format("{}, C = {}", name(entry.form), entry.chunk_size);
}

/// `entry` without what a question lets differ.
RaceEntry shared(RaceEntry entry, RaceQuestion question) {
  if (question == RaceQuestion::softmax) entry.variant.clear();
  if (question == RaceQuestion::softmax || question == RaceQuestion::forms) {
    entry.form = Form::recurrent;
    entry.chunk_size = 0;
  } else {
    entry.device.clear();
  }
  return entry;
}

std::string where(const RaceEntry& one, RaceQuestion question) {
  std::string words;
  if (question == RaceQuestion::softmax || question == RaceQuestion::forms) words = one.device + ", ";
  return words + fmt::format("{}, B {}, H {}, K {}, V {}", name(one.precision), one.batches, one.heads,
                             one.dk, one.dv);
}

/// How a side of a comparison is called in a sentence.
std::string called(const RaceEntry& entry, RaceQuestion question, std::span<const Variant> table) {
  const std::string rule = race_label(entry.variant, table);
  switch (question) {
    case RaceQuestion::softmax:
      return entry.variant == race_peer ? rule : fmt::format("{} ({})", rule, in_form(entry));
    case RaceQuestion::forms:
      return fmt::format("{} ({})", rule, in_form(entry));
    case RaceQuestion::devices:
    case RaceQuestion::whole_devices:
      break;
  }
  return fmt::format("{} ({}) on {}", rule, in_form(entry), entry.device);
}

/// Adds the crossings of two curves, each with its sentence.
void add_crossings(const RaceCurve& one, const RaceCurve& other, RaceQuestion question,
                   std::span<const Variant> table, std::vector<RaceCrossover>& found) {
  const bool whole = question == RaceQuestion::whole_devices;
  const std::vector<Crossing> all =
      whole ? crossings(one.whole, other.whole) : crossings(one.compute, other.compute);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RaceEntry& faster = all[i].first_is_faster ? one.of : other.of;
    const RaceEntry& slower = all[i].first_is_faster ? other.of : one.of;
    const std::string span =
        i + 1 < all.size()
            ? fmt::format("From about {} to about {} tokens", about(all[i].tokens), about(all[i + 1].tokens))
            : fmt::format("From about {} tokens on", about(all[i].tokens));
    found.push_back({.question = question,
                     .faster = faster,
                     .slower = slower,
                     .tokens = all[i].tokens,
                     .seconds = all[i].seconds,
                     .sentence = fmt::format("{}, {} is faster than {}{}{}.", span,
                                             called(faster, question, table), called(slower, question, table),
                                             i > 0 ? " again" : "", whole ? ", transfers counted" : ""),
                     .where = where(one.of, question)});
  }
}

/// The fastest of some curves at each length.
std::vector<TimedLength> fastest(const std::vector<TimedLength>& one, const std::vector<TimedLength>& other) {
  std::vector<TimedLength> all = one;
  for (const TimedLength& each : other) {
    const auto same = std::ranges::find(all, each.tokens, &TimedLength::tokens);
    if (same == all.end())
      all.push_back(each);
    else if (each.seconds.median < same->seconds.median)
      *same = each;
  }
  std::ranges::sort(all, {}, &TimedLength::tokens);
  return all;
}

/// The peer's curves with their forms taken together.
std::vector<RaceCurve> peers(const std::vector<RaceCurve>& curves) {
  std::vector<RaceCurve> all;
  for (const RaceCurve& curve : curves) {
    if (curve.of.variant != race_peer) continue;
    const RaceEntry wanted = shared(curve.of, RaceQuestion::softmax);
    const auto same = std::ranges::find_if(
        all, [&](const RaceCurve& other) { return shared(other.of, RaceQuestion::softmax) == wanted; });
    if (same == all.end())
      all.push_back(curve);
    else
      same->compute = fastest(same->compute, curve.compute);
  }
  return all;
}

}  // namespace

std::string about(double tokens) {
  const double digit = std::pow(10.0, std::max(std::floor(std::log10(std::max(tokens, 1.0))) - 1, 0.0));
  return in_groups(fmt::format("{:.0f}", std::round(tokens / digit) * digit));
}

std::vector<RaceCurve> race_curves(const RaceReport& report) {
  std::vector<RaceCurve> curves;
  for (const RacePoint& point : report.points) {
    if (!point.measured() || point.entry.tokens < 1) continue;
    RaceEntry of = point.entry;
    of.tokens = 0;
    auto curve = std::ranges::find(curves, of, &RaceCurve::of);
    if (curve == curves.end()) curve = curves.insert(curves.end(), {.of = of, .compute = {}, .whole = {}});
    const auto tokens = static_cast<double>(point.entry.tokens);
    if (point.compute.low > 0) curve->compute.push_back({tokens, point.compute});
    if (point.whole.low > 0) curve->whole.push_back({tokens, point.whole});
  }
  for (RaceCurve& curve : curves) {
    std::ranges::sort(curve.compute, {}, &TimedLength::tokens);
    std::ranges::sort(curve.whole, {}, &TimedLength::tokens);
  }
  return curves;
}

std::vector<RaceCrossover> race_crossovers(const RaceReport& report, std::span<const Variant> table) {
  const std::vector<RaceCurve> curves = race_curves(report);
  std::vector<RaceCrossover> found;
  for (const RaceCurve& softmax : peers(curves)) {
    for (const RaceCurve& curve : curves) {
      if (curve.of.variant != race_peer &&
          shared(curve.of, RaceQuestion::softmax) == shared(softmax.of, RaceQuestion::softmax))
        add_crossings(curve, softmax, RaceQuestion::softmax, table, found);
    }
  }
  const auto compare = [&](RaceQuestion question, auto is_first, auto is_second) {
    for (const RaceCurve& one : curves) {
      if (!is_first(one.of)) continue;
      for (const RaceCurve& other : curves) {
        if (is_second(other.of) && shared(one.of, question) == shared(other.of, question))
          add_crossings(one, other, question, table, found);
      }
    }
  };
  compare(
      RaceQuestion::forms, [](const RaceEntry& entry) { return entry.form == Form::chunkwise; },
      [](const RaceEntry& entry) { return entry.form == Form::recurrent; });
  for (const RaceQuestion question : {RaceQuestion::devices, RaceQuestion::whole_devices}) {
    compare(
        question, [](const RaceEntry& entry) { return entry.device != "cpu"; },
        [](const RaceEntry& entry) { return entry.device == "cpu"; });
  }
  return found;
}

}  // namespace palimpsest
