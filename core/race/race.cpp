#include "core/race/race.h"

#include "core/base/free_memory.h"
#include "core/base/refuse.h"
#include "core/base/text.h"
#include "core/cases/random_case.h"

namespace palimpsest {

namespace {

std::vector<const Variant*> raced_variants(const RacePlan& plan, std::span<const Variant> table) {
  std::vector<const Variant*> all;
  const auto add = [&](const Variant& variant) {
    if (!is_among(&variant, all)) all.push_back(&variant);
  };
  if (plan.peer) add(find_variant(race_peer, table));
  for (const std::string& id : plan.variants) add(find_variant(id, table));
  if (plan.variants.empty()) std::ranges::for_each(table, add);
  return all;
}

template <class Visit>
void for_every_shape(const RacePlan& plan, Visit visit) {
  for (const Index tokens : plan.lengths) {
    for (const Index batches : plan.batches) {
      for (const Index heads : plan.heads) {
        for (const auto& [dk, dv] : plan.sizes)
          visit(RaceEntry{.tokens = tokens, .batches = batches, .heads = heads, .dk = dk, .dv = dv});
      }
    }
  }
}

constexpr Index hidden_per_channel = 4;  // hidden units per channel of an inner network, as in papers

/// Bytes of a number of q, k, v or o. All else (gates, strengths, states) is in held_in(precision).
double number_size(Precision precision) {
  static constexpr double bytes[] = {8, 4, 4, 2};
  return entry(bytes, precision);
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
      throw Unsupported(fmt::format("q, k and v alone would take {:.3g} GB; the limit is {:.3g} GB",
                                    bytes / 1e9, byte_limit / 1e9));
    }
  }

  RaceEntry entry_ = {};
  std::optional<SequenceBatch> made_ = {};
};

/// Bytes of one head's inputs with a row per token, and of its outputs: `of_rows` bytes for a number of q, k,
/// v and o, `of_others` for any other.
double given_bytes(const Sequence& sequence, double of_rows, double of_others) {
  double of_a_token = of_rows * static_cast<double>(sequence.dv);
  for (const std::string& name : sequence.names_with_tokens()) {
    const bool is_row = is_among(name, {"q", "k", "v"});
    of_a_token += (is_row ? of_rows : of_others) * static_cast<double>(sequence.at(name).columns());
  }
  return of_a_token * static_cast<double>(sequence.tokens);
}

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

  RaceReport run(const std::function<void(const RaceProgress&)>& measured) {
    const std::vector<RaceEntry> entries = race_entries(plan_, table_);
    describe();
    if (plan_.roofs) measure_roofs();
    const std::ptrdiff_t total = std::ssize(entries);
    report_.left =
        std::ranges::count_if(entries, [&](const RaceEntry& entry) { return !report_.find(entry); });
    try {
      for (const RaceEntry& entry : entries) {
        if (report_.find(entry)) continue;
        if (is_asked_to_stop(stop_)) break;
        report_.points.push_back(measure(entry));
        --report_.left;
        if (measured) measured({report_, report_.points.back(), total - report_.left, total});
      }
    } catch (const Cancelled&) {
    }
    return std::move(report_);
  }

 private:
  void describe() {
    report_.data = fmt::format(
        "random numbers (seed {}), drawn for one head and copied to every other: keys of norm 1, normal "
        "queries and values, decays mostly near 1; four hidden units per key channel where there are any",
        plan_.seed);
    for (const Backend* const backend : plan_.backends) {
      if (!is_among(backend->name(), report_.timing, &RaceTiming::device))
        report_.timing.push_back({backend->name(), backend->what_is_timed()});
    }
  }

  void measure_roofs() {
    for (const Backend* const backend : plan_.backends) {
      for (const Precision precision : plan_.precisions) {
        if (is_asked_to_stop(stop_)) return;
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

  void fill(RacePoint& point) {
    const RaceEntry& entry = point.entry;
    const Variant& variant = find_variant(entry.variant, table_);
    const Backend& backend = **std::ranges::find(plan_.backends, entry.device, &Backend::name);
    const Settings settings = random_settings(variant, {}, plan_.seed);
    if (const auto reason = backend.missing(variant, settings, entry.form, entry.precision))
      throw Unsupported(*reason);
    const SequenceBatch& batch = data_.of(variant, entry, plan_.seed);
    point.work = work_of(variant, batch, entry);
    require_short(point);
    const KernelKind kernel = variant.rule->kernel(batch.heads.front(), entry.form, held_in(entry.precision),
                                                   backend.engines(entry.precision));
    if (!is_cpu(backend) || kernel != KernelKind::plain) point.kernel = kernel;
    const auto run = [&](const Repeats& repeats) {
      stop_if_asked(stop_);
      const Undisturbed alone;
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
    // A device that repeats the computation warms itself up, and a very long first run is hardly longer than
    // the next. Both count.
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
    const auto spread = [&](double RunTimes::*part) { return quartiles(made_of(times, part)); };
    point.compute = quartiles(std::move(compute));
    point.transfers = spread(&RunTimes::transfers);
    point.allocations = spread(&RunTimes::allocations);
    point.whole = spread(&RunTimes::whole);
  }

  /// Throws Unsupported where the time of a shorter length shows that a run would take too long.
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

/// The number of sequential steps over `tokens`: one per token; one per chunk; for two passes one per chunk's
/// state and one for all outputs; one in the parallel form.
Index steps_in_a_row(Form form, Index tokens, Index chunk_size) {
  if (form == Form::recurrent) return tokens;
  const Index chunks = (tokens + chunk_size - 1) / chunk_size;
  if (form == Form::chunkwise) return chunks;
  if (form == Form::two_pass) return chunks + 1;
  return tokens > 0 ? 1 : 0;
}

CostRow row(const Variant& variant, const Sequence& sequence, Form form, Index chunk_size) {
  constexpr double bytes_per_number = 4;
  CostRow row = {.form = form};
  if (const auto reason = variant.rule->missing(form, sequence.settings)) {
    row.missing = *reason;
    return row;
  }
  const std::optional<Work> work = variant.rule->cost(sequence, form, chunk_size);
  if (!work) {
    row.missing = "this rule does not state its costs";
    return row;
  }
  const auto tokens = static_cast<double>(std::max<Index>(sequence.tokens, 1));
  row.flops = work->flops() / tokens;
  row.exponentials = work->exponentials / tokens;
  row.steps = steps_in_a_row(form, sequence.tokens, chunk_size);
  row.bytes =
      (given_bytes(sequence, bytes_per_number, bytes_per_number) + bytes_per_number * work->moved) / tokens;
  return row;
}

}  // namespace

std::vector<RaceEntry> race_entries(const RacePlan& plan, std::span<const Variant> table) {
  const std::vector<const Variant*> raced = raced_variants(plan, table);
  std::vector<RaceEntry> entries;
  const auto add = [&](const RaceEntry& entry) {
    if (!is_among(entry, entries)) entries.push_back(entry);
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
  // Entries with the same data follow each other.
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
  const KeptMemory kept;
  return Race(plan, std::move(begun), std::move(stop), table).run(measured);
}

Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - std::floor(place));
  };
  return {at(0.25), at(0.5), at(0.75)};
}

const RacePoint* RaceReport::find(const RaceEntry& entry) const {
  return row_called(points, entry, &RacePoint::entry);
}

const Roof* RaceReport::roof_of(const RaceEntry& entry) const {
  for (const RaceRoof& each : roofs)
    if (each.device == entry.device && each.precision == entry.precision) return &each.roof;
  return nullptr;
}

double roof_fraction(const RacePoint& point, const RaceReport& report) {
  const Roof* const roof = report.roof_of(point.entry);
  if (!roof || point.compute.median <= 0) return 0;
  const double for_bytes = roof->bytes_per_second > 0 ? point.work.bytes / roof->bytes_per_second : 0;
  const double for_flops = roof->flops_per_second > 0 ? point.work.needed_flops / roof->flops_per_second : 0;
  return std::max(for_bytes, for_flops) / point.compute.median;
}

void require_same_machine(const RaceMachine& machine, const RaceMachine& here) {
  const auto require = [](const char* what, const std::string& theirs, const std::string& ours) {
    if (theirs == ours) return;
    const auto named = [](const std::string& text) {
      return text.empty() ? std::string("none") : fmt::format("\"{}\"", shown(text));
    };
    refuse(
        "the report comes from another {}: {}, here {}. Times of two machines or programs do not "
        "go into one report; start a new one",
        what, named(theirs), named(ours));
  };
  require("processor", machine.processor, here.processor);
  require("number of threads", std::to_string(machine.threads), std::to_string(here.threads));
  require("GPU", machine.gpu, here.gpu);
  require("driver", machine.driver, here.driver);
  require("program", machine.program, here.program);
}

std::string race_label(const std::string& id) {
  const Variant* const variant = row_called(variants(), id, &Variant::id);
  return variant ? variant->label : id;
}

std::string in_groups(std::string digits) {
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

std::vector<CostRow> costs(const Variant& variant, const Sequence& sequence, Index chunk_size) {
  return made_of(all_forms, [&](Form form) { return row(variant, sequence, form, chunk_size); });
}

}  // namespace palimpsest
