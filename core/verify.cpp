#include "core/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/parallel_for.h"

namespace palimpsest {

namespace {

bool has_gates(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.range == Range::decay; });
}

bool has_optional_inputs(const Variant& variant) {
  return std::ranges::any_of(variant.inputs, [](const Input& input) { return input.absent.has_value(); });
}

constexpr Index long_chunk = 64;  // tokens per chunk of long texts

/// The chunk sizes of a plan for so many tokens, each once.
std::vector<Index> chunk_sizes(const VerifyPlan& plan, Index tokens) {
  std::set<Index> sizes;
  for (const Index size : plan.chunk_sizes) {
    sizes.insert(size == VerifyPlan::whole_sequence ? std::max<Index>(tokens, 1) : size);
  }
  return {sizes.begin(), sizes.end()};
}

/// The options of a choice with every size of an inner batch, where the rule has one.
std::vector<Settings> with_batches(const VerifyPlan& plan, const OptionChoice& choice) {
  const std::vector<Parameter> parameters = all_parameters(*choice.variant);
  const bool has_batches = std::ranges::find(parameters, "batch", &Parameter::name) != parameters.end();
  if (!has_batches) return {choice.given};
  std::vector<Settings> all;
  for (const Index batch : plan.batch_sizes) {
    all.push_back(choice.given);
    all.back().parameters["batch"] = static_cast<double>(batch);
  }
  return all;
}

/// Whether anything makes the variant forget.
bool forgets(const Variant& variant) {
  const auto keeps = [](const auto& each) { return each.keeps.has_value(); };
  return std::ranges::any_of(variant.inputs, keeps) || std::ranges::any_of(variant.parameters, keeps);
}

/// Every combination that a plan asks for of one variant with one choice of options.
void add_every_combination(const VerifyPlan& plan, const OptionChoice& choice,
                           std::vector<VerifyCase>& cases) {
  const Variant& variant = *choice.variant;
  const bool has_states = has_optional_inputs(variant);
  const auto add = [&](RandomCase random, const std::vector<Index>& chunks) {
    for (Settings given : with_batches(plan, choice)) {
      // A scale of 1 everywhere would hide that one is forgotten.
      if (random.initial_state) given.parameters["scale"] = 0.625;
      if (random.keeps) keep_everything(variant, given);
      for (int draw = 0; draw < plan.draws; ++draw) {
        random.seed = plan.seed + static_cast<std::uint64_t>(draw);
        cases.push_back({&variant, random_settings(variant, given, random.seed), random, chunks});
      }
    }
  };
  for (const Index tokens : plan.lengths) {
    const std::vector<Index> chunks = chunk_sizes(plan, tokens);
    for (const VerifyPlan::Size& size : plan.sizes) {
      RandomCase random{.tokens = tokens, .dk = size.dk, .dv = size.dv};
      for (const bool initial_state : {false, true}) {
        if (initial_state && !has_states) continue;
        for (const bool log_gates : {false, true}) {
          if (log_gates && !has_gates(variant)) continue;
          random.initial_state = initial_state;
          random.log_gates = log_gates;
          add(random, chunks);
        }
      }
    }
  }
  if (plan.sizes.empty()) return;
  RandomCase random{.dk = plan.sizes[0].dk, .dv = plan.sizes[0].dv, .initial_state = has_states};
  for (const bool keeps : {false, true}) {
    if (keeps && !forgets(variant)) continue;
    random.keeps = keeps;
    for (const Index tokens : plan.lengths) {
      random.tokens = tokens;
      if (keeps) add(random, chunk_sizes(plan, tokens));
    }
    for (const Index tokens : plan.long_lengths) {
      random.tokens = tokens;
      add(random, {long_chunk});
    }
  }
}

/// One run of one form, compared.
struct Comparison {
  std::size_t row;  // of the report
  Judgement judgement = {};
  Index chunk_size = 1;
  std::string message = {};
};

/// Gathers the results of all cases, in whatever order they are finished.
class Verification {
 public:
  Verification(const VerifyPlan& plan, std::span<const Variant> table, std::stop_token stop)
      : plan_(plan), stop_(std::move(stop)) {
    for (const OptionChoice& choice : choices(table)) {
      choices_.push_back(choice);
      add_rows(choice);
    }
    if (!plan.cases.empty()) {
      cases_ = plan.cases;
    } else if (plan.random_cases == 0) {
      for (const OptionChoice& choice : choices_) add_every_combination(plan, choice, cases_);
    }
    report_.planned =
        plan.random_cases > 0 && plan.cases.empty() ? plan.random_cases : static_cast<Index>(cases_.size());
  }

  VerifyReport run(const std::function<void(const VerifyProgress&)>& progress) {
    now_.total = report_.planned;
    parallel_for(report_.planned, plan_.jobs, [&](Index index) {
      if (stop_.stop_requested()) return;
      const VerifyCase verified = plan_.random_cases > 0 && plan_.cases.empty()
                                      ? random_verify_case(choices_, plan_.seed, index)
                                      : cases_[static_cast<std::size_t>(index)];
      std::vector<Comparison> comparisons;
      try {
        comparisons = compare_forms(verified);
      } catch (const Cancelled&) {
        return;
      }
      const std::scoped_lock lock(mutex_);
      for (const Comparison& comparison : comparisons) add(verified, index, comparison);
      ++report_.cases;
      now_.variant = verified.variant->id;
      now_.done = report_.cases;
      if (progress) progress(now_);
    });
    std::vector<VerifyResult> ran;
    for (Row& row : rows_) {
      if (row.result.runs > 0) ran.push_back(std::move(row.result));
    }
    report_.results = std::move(ran);
    return std::move(report_);
  }

 private:
  /// The worst so far by some measure, and the case that it comes from.
  struct Worst {
    double measure = -1;
    Index index = 0;

    bool is_beaten_by(double other, Index other_index) const {
      return other > measure || (other == measure && other_index < index);
    }
  };

  struct Row {
    const Backend* backend;
    VerifyResult result;
    Worst worst = {};
    Worst amplified = {};
  };

  /// What there are rows for: the options of the given cases, or all.
  std::vector<OptionChoice> choices(std::span<const Variant> table) const {
    std::vector<OptionChoice> all;
    for (const VerifyCase& given : plan_.cases) all.push_back({given.variant, given.given});
    if (!all.empty()) return all;
    const auto add = [&](const Variant& variant) {
      for (const Settings& given : option_choices(variant)) all.push_back({&variant, given});
    };
    for (const std::string& id : plan_.variants) add(find_variant(id, table));
    if (plan_.variants.empty()) std::ranges::for_each(table, add);
    return all;
  }

  /// One row for every form, device and precision that exists; the others are missing.
  void add_rows(const OptionChoice& choice) {
    const Variant& variant = *choice.variant;
    const Settings settings = random_settings(variant, choice.given, plan_.seed);
    const std::string options = describe_options(settings);
    if (rows_of_.contains({variant.id, options})) return;
    rows_of_[{variant.id, options}] = {};
    for (const Backend* backend : plan_.backends) {
      for (const Form form : plan_.forms) {
        for (const Precision precision : plan_.precisions) {
          if (const auto reason = backend->missing(variant, settings, form, precision)) {
            report_.missing.push_back({variant.id, options, backend->name(), form, precision, *reason});
            continue;
          }
          rows_of_[{variant.id, options}].push_back(rows_.size());
          Tolerance allowed = tolerance(variant, settings, form, precision, plan_.exceptions);
          rows_.push_back({backend,
                           {.variant = variant.id,
                            .options = options,
                            .device = backend->name(),
                            .form = form,
                            .precision = precision,
                            .tolerance = allowed.error,
                            .exception = std::move(allowed.reason)}});
        }
      }
    }
  }

  std::vector<Comparison> compare_forms(const VerifyCase& verified) {
    std::vector<Comparison> comparisons;
    const auto found = rows_of_.find({verified.variant->id, describe_options(verified.given)});
    if (found == rows_of_.end()) return comparisons;
    for (const Precision precision : plan_.precisions) {
      std::vector<std::size_t> rows;
      for (const std::size_t row : found->second) {
        if (rows_[row].result.precision == precision) rows.push_back(row);
      }
      if (!rows.empty()) compare_forms(verified, precision, rows, comparisons);
    }
    return comparisons;
  }

  /// A case that fails before any form runs fails them all.
  void compare_forms(const VerifyCase& verified, Precision precision, const std::vector<std::size_t>& rows,
                     std::vector<Comparison>& comparisons) {
    std::optional<ReferenceRun> reference;
    try {
      reference.emplace(reference_run(verified, precision, stop_));
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      for (const std::size_t row : rows) comparisons.push_back({.row = row, .message = error.what()});
      return;
    }
    for (const std::size_t row : rows) {
      const VerifyResult& result = rows_[row].result;
      // Other forms have no chunks to differ in.
      const std::vector<Index> chunks =
          has_chunks(result.form) ? verified.chunk_sizes : std::vector<Index>{1};
      for (const Index chunk_size : chunks) {
        if (stop_.stop_requested()) throw Cancelled();
        comparisons.push_back(compare_one(row, verified, *reference, chunk_size));
      }
    }
  }

  Comparison compare_one(std::size_t row, const VerifyCase& verified, ReferenceRun& reference,
                         Index chunk_size) {
    Comparison comparison{.row = row, .chunk_size = chunk_size};
    const Backend& backend = *rows_[row].backend;
    const VerifyResult& result = rows_[row].result;
    try {
      const Output got = run(backend, *verified.variant, reference.sequence(), result, chunk_size);
      comparison.judgement =
          reference.judge(got, result.form, chunk_size, {result.tolerance, result.exception}, stop_);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      comparison.message = error.what();
    }
    return comparison;
  }

  Output run(const Backend& backend, const Variant& variant, const Sequence& sequence,
             const VerifyResult& result, Index chunk_size) {
    // Cases share a device other than the processor: one at a time.
    std::unique_lock<std::mutex> device(device_, std::defer_lock);
    if (&backend != &cpu_backend()) device.lock();
    return backend.run(variant, sequence, result.form, result.precision, chunk_size, stop_);
  }

  /// Counts one comparison. The order of cases does not matter: of two that are as bad, the row keeps the one
  /// with the lower index.
  void add(const VerifyCase& verified, Index index, const Comparison& comparison) {
    Row& row = rows_[comparison.row];
    VerifyResult& result = row.result;
    const Judgement& judgement = comparison.judgement;
    const double error = judgement.disagreement.error;
    const bool failed = !comparison.message.empty() || !judgement.passed();
    const double badness =
        comparison.message.empty() ? error / judgement.allowed() : std::numeric_limits<double>::infinity();
    const auto command = [&] {
      return reproduction(verified, result.device, result.form, result.precision, comparison.chunk_size);
    };
    ++result.runs;
    if (failed) {
      ++result.failed;
      ++now_.failed;
    }
    if (judgement.amplification > 1) {
      ++result.amplified.runs;
      if (row.amplified.is_beaten_by(error, index)) {
        row.amplified = {error, index};
        result.amplified.error = error;
        result.amplified.factor = judgement.amplification;
        result.amplified.reproduction = command();
      }
    }
    double& worst = result.precision == Precision::f64 ? now_.worst_f64 : now_.worst_f32;
    worst = std::max(worst, error);
    if (!row.worst.is_beaten_by(badness, index)) return;
    row.worst = {badness, index};
    result.message = comparison.message;
    result.worst = judgement.disagreement;
    result.amplification = judgement.amplification;
    result.reproduction = command();
  }

  const VerifyPlan& plan_;
  std::stop_token stop_;
  std::vector<OptionChoice> choices_;
  std::vector<VerifyCase> cases_;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> rows_of_;  // by variant and options
  VerifyReport report_;
  VerifyProgress now_;
  std::mutex mutex_;
  std::mutex device_;
};

}  // namespace

bool VerifyReport::passed() const {
  return runs() > 0 && std::ranges::all_of(results, &VerifyResult::passed);
}

Index VerifyReport::runs() const {
  Index total = 0;
  for (const VerifyResult& result : results) total += result.runs;
  return total;
}

VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table,
                    const std::function<void(const VerifyProgress&)>& progress, std::stop_token stop) {
  return Verification(plan, table, std::move(stop)).run(progress);
}

}  // namespace palimpsest
