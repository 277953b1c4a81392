#include "core/race/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/cases/random_case.h"
#include "core/insight/cost.h"
#include "core/rules/rule.h"

namespace palimpsest {

namespace {

std::vector<const Variant*> raced_variants(const RacePlan& plan, std::span<const Variant> table) {
  std::vector<const Variant*> all;
  const auto add = [&](const Variant& variant) {
    if (std::ranges::find(all, &variant) == all.end()) all.push_back(&variant);
  };
  if (plan.peer) add(find_variant(race_peer, table));
  for (const std::string& id : plan.variants) add(find_variant(id, table));
  if (plan.variants.empty()) std::ranges::for_each(table, add);
  return all;
}

/// Calls visit(entry) for every shape of a plan.
template <class Visit>
void for_every_shape(const RacePlan& plan, Visit visit) {
  for (const Index tokens : plan.lengths) {
    for (const Index batches : plan.batches) {
      for (const Index heads : plan.heads) {
        for (const RacePlan::Size& size : plan.sizes)
          visit(
              RaceEntry{.tokens = tokens, .batches = batches, .heads = heads, .dk = size.dk, .dv = size.dv});
      }
    }
  }
}

constexpr Index hidden_per_channel = 4;  // units of an inner network, as papers take them

/// Bytes of a number of q, k, v or o. All else, gates, strengths and states, are numbers of held_in().
double number_size(Precision precision) {
  static constexpr double bytes[] = {8, 4, 4, 2};
  return bytes[static_cast<std::size_t>(precision)];
}

/// The data of an entry, kept for the next that has the same.
class RaceData {
 public:
  /// Throws Unsupported where there are no such data.
  const SequenceBatch& of(const Variant& variant, const RaceEntry& entry, std::uint64_t seed) {
    RaceEntry wanted = entry;
    wanted.form = Form::recurrent;
    wanted.device.clear();
    wanted.chunk_size = 0;
    if (made_ && wanted == entry_) return *made_;
    made_.reset();  // before there are others
    const RandomCase random = {.tokens = entry.tokens,
                               .dk = entry.dk,
                               .dv = entry.dv,
                               .seed = seed,
                               .hidden = hidden_per_channel * entry.dk};
    const Settings settings = random_settings(variant, {}, seed);
    require_possible(variant, settings, random, entry);
    const Arrays head = random_arrays(variant, settings, random);
    const auto all = std::make_shared<const Arrays>(
        repeated_heads(variant, settings, head, entry.batches, entry.heads, entry.precision));
    made_ = bind(variant, all, settings);
    entry_ = wanted;
    return *made_;
  }

 private:
  static void require_possible(const Variant& variant, const Settings& settings, const RandomCase& random,
                               const RaceEntry& entry) {
    if (fitted(variant, settings, random) != random) {
      throw Unsupported(
          fmt::format("{} needs as many value channels as key channels, 6 or more", variant.label));
    }
    const double numbers = static_cast<double>(entry.batches * entry.heads) *
                           static_cast<double>(entry.tokens) * static_cast<double>(2 * entry.dk + entry.dv);
    const double bytes = numbers * number_size(held_in(entry.precision));
    if (bytes > byte_limit) {
      throw Unsupported(fmt::format("q, k and v alone would take {:.1f} GB; the limit is {:.0f} GB",
                                    bytes / 1e9, byte_limit / 1e9));
    }
  }

  RaceEntry entry_ = {};
  std::optional<SequenceBatch> made_ = {};
};

RaceWork work_of(const Variant& variant, const SequenceBatch& batch, const RaceEntry& entry) {
  const Sequence& head = batch.heads.front();
  const double heads = static_cast<double>(batch.heads.size());
  const double held = number_size(held_in(entry.precision));
  const auto cost = variant.rule->cost(head, entry.form, std::max<Index>(entry.chunk_size, 1));
  const Work total = cost.value_or(Work{});
  return {.flops = heads * total.flops(),
          .needed_flops = heads * (2 * total.seen + total.multiplications),
          .exponentials = heads * total.exponentials,
          .bytes = heads * given_bytes(head, number_size(entry.precision), held),
          .moved = heads * held * total.moved};
}

class Race {
 public:
  Race(const RacePlan& plan, RaceReport report, std::stop_token stop, std::span<const Variant> table)
      : plan_(plan), report_(std::move(report)), stop_(std::move(stop)), table_(table) {}

  void describe() {
    report_.data = fmt::format(
        "random numbers (seed {}), drawn for one head and copied to every other: k of length 1, q and v "
        "normal, decays mostly small losses; four hidden units per key channel where there are any",
        plan_.seed);
    for (const Backend* const backend : plan_.backends) {
      if (std::ranges::find(report_.timing, backend->name(), &RaceTiming::device) == report_.timing.end())
        report_.timing.push_back({backend->name(), backend->what_is_timed()});
    }
  }

  void measure_roofs() {
    for (const Backend* const backend : plan_.backends) {
      for (const Precision precision : plan_.precisions) {
        if (stop_.stop_requested()) return;
        const RaceEntry under = {.device = backend->name(), .precision = precision};
        if (report_.roof_of(under)) continue;
        if (const auto roof = backend->roof(precision))
          report_.roofs.push_back({backend->name(), precision, *roof});
      }
    }
  }

  /// The point of an entry. Throws Cancelled.
  RacePoint measure(const RaceEntry& entry) {
    RacePoint point = {.entry = entry};
    try {
      fill(point);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& reason) {  // what does not exist, fit or work here
      point = {.entry = entry, .missing = reason.what()};
    }
    return point;
  }

  RaceReport& report() { return report_; }

 private:
  const Backend& backend_of(const RaceEntry& entry) const {
    return **std::ranges::find(plan_.backends, entry.device,
                               [](const Backend* backend) { return backend->name(); });
  }

  void fill(RacePoint& point) {
    const RaceEntry& entry = point.entry;
    const Variant& variant = find_variant(entry.variant, table_);
    const Backend& backend = backend_of(entry);
    const Settings settings = random_settings(variant, {}, plan_.seed);
    if (const auto reason = backend.missing(variant, settings, entry.form, entry.precision))
      throw Unsupported(*reason);
    const SequenceBatch& batch = data_.of(variant, entry, plan_.seed);
    point.work = work_of(variant, batch, entry);
    require_short(point);
    if (backend.name() != cpu_backend().name()) {
      point.kernel = variant.rule->kernel(batch.heads.front(), entry.form, held_in(entry.precision),
                                          backend.engines(entry.precision));
    }
    const auto run = [&](const Repeats& repeats) {
      stop_if_asked(stop_);
      return backend.measure(variant, batch.heads, entry.form, entry.precision,
                             std::max<Index>(entry.chunk_size, 1), repeats, stop_);
    };
    std::vector<RunTimes> times;
    std::vector<double> compute;
    double spent = 0;
    const auto add = [&](RunTimes more) {
      compute.insert(compute.end(), more.compute.begin(), more.compute.end());
      spent += more.spent;
      times.push_back(std::move(more));
    };
    const Repeats all = {.most = std::max(plan_.repeats, plan_.least_repeats),
                         .least = plan_.least_repeats,
                         .seconds = plan_.seconds};
    RunTimes first = run(all);
    // A device that computes again and again warms itself up. And a first run that takes so long is hardly
    // longer than the next. Both count.
    const bool repeated = first.compute.size() > 1;
    point.warmed = repeated || first.whole <= plan_.seconds;
    if (repeated || !point.warmed) add(std::move(first));
    const auto count = [&] { return static_cast<Index>(compute.size()); };
    while (count() < plan_.least_repeats || (!repeated && count() < plan_.repeats && spent < plan_.seconds)) {
      add(run({.most = all.most - count(),
               .least = std::max<Index>(plan_.least_repeats - count(), 1),
               .seconds = plan_.seconds - spent}));
    }
    point.repeats = count();
    const auto spread = [&](double RunTimes::*part) {
      std::vector<double> values;
      for (const RunTimes& each : times) values.push_back(each.*part);
      return quartiles(std::move(values));
    };
    point.compute = quartiles(std::move(compute));
    point.transfers = spread(&RunTimes::transfers);
    point.allocations = spread(&RunTimes::allocations);
    point.whole = spread(&RunTimes::whole);
  }

  /// Throws Unsupported where a shorter length of the same says that a run would take too long.
  void require_short(const RacePoint& point) const {
    const RacePoint* shorter = nullptr;
    for (const RacePoint& other : report_.points) {
      RaceEntry same = other.entry;
      same.tokens = point.entry.tokens;
      if (same != point.entry || !other.measured() || other.entry.tokens >= point.entry.tokens) continue;
      if (!shorter || other.entry.tokens > shorter->entry.tokens) shorter = &other;
    }
    if (!shorter) return;
    const double by_tokens = static_cast<double>(point.entry.tokens) /
                             static_cast<double>(std::max<Index>(shorter->entry.tokens, 1));
    const double by_flops = shorter->work.flops > 0 ? point.work.flops / shorter->work.flops : by_tokens;
    const double expected = shorter->whole.median * std::max(by_tokens, by_flops);
    if (expected <= plan_.longest) return;
    throw Unsupported(
        fmt::format("after {:.3g} s for {} tokens a run would take about {:.0f} s; the limit is {:g} s",
                    shorter->whole.median, shorter->entry.tokens, expected, plan_.longest));
  }

  const RacePlan& plan_;
  RaceReport report_;
  std::stop_token stop_;
  std::span<const Variant> table_;
  RaceData data_;
};

}  // namespace

std::vector<RaceEntry> race_entries(const RacePlan& plan, std::span<const Variant> table) {
  const std::vector<const Variant*> raced = raced_variants(plan, table);
  std::vector<RaceEntry> entries;
  const auto add = [&](const RaceEntry& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  };
  const auto add_forms = [&](RaceEntry entry) {
    for (const Form form : plan.forms) {
      entry.form = form;
      entry.chunk_size = 0;
      if (!has_chunks(form)) add(entry);
      for (const Index chunk_size : plan.chunk_sizes) {
        entry.chunk_size = chunk_size;
        if (has_chunks(form)) add(entry);
      }
    }
  };
  // What shares its data follows each other.
  for_every_shape(plan, [&](RaceEntry entry) {
    for (const Variant* const variant : raced) {
      for (const Precision precision : plan.precisions) {
        for (const Backend* const backend : plan.backends) {
          entry.variant = variant->id;
          entry.precision = precision;
          entry.device = backend->name();
          add_forms(entry);
        }
      }
    }
  });
  return entries;
}

RaceReport race(const RacePlan& plan, RaceReport begun,
                const std::function<void(const RaceProgress&)>& measured, std::stop_token stop,
                std::span<const Variant> table) {
  const std::vector<RaceEntry> entries = race_entries(plan, table);
  Race runner(plan, std::move(begun), stop, table);
  runner.describe();
  if (plan.roofs) runner.measure_roofs();
  RaceReport& report = runner.report();
  const auto total = static_cast<Index>(entries.size());
  report.left = std::ranges::count_if(entries, [&](const RaceEntry& entry) { return !report.find(entry); });
  try {
    for (const RaceEntry& entry : entries) {
      if (report.find(entry)) continue;
      if (stop.stop_requested()) break;
      report.points.push_back(runner.measure(entry));
      --report.left;
      if (measured) measured({report, report.points.back(), total - report.left, total});
    }
  } catch (const Cancelled&) {
  }
  return std::move(report);
}

}  // namespace palimpsest
