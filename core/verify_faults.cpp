#include "core/verify_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/faults.h"
#include "core/random_case.h"
#include "core/verify.h"

namespace palimpsest {

namespace {

constexpr Index chunk_size = 4;
constexpr int draws = 8;  // of numbers, until one shows the fault

/// The last chunk is short, and keys are as wide as values: no shape stops a fault from running.
RandomCase revealing_case(std::uint64_t seed) {
  return {.tokens = 18, .dk = 6, .dv = 6, .initial_state = true, .seed = seed};
}

/// A scale of 1 would hide what is scaled twice.
Settings revealing_settings(const Variant& variant, Settings given, std::uint64_t seed) {
  given.parameters["scale"] = 0.625;
  return random_settings(variant, given, seed);
}

/// One variant with one choice of options in one form.
class FaultyForm {
 public:
  FaultyForm(const Variant& variant, const Settings& given, Form form, std::uint64_t seed)
      : variant_(variant), form_(form), seed_(seed) {
    for (int draw = 0; draw < draws; ++draw) {
      settings_.push_back(revealing_settings(variant, given, seed_ + static_cast<std::uint64_t>(draw)));
    }
  }

  void run(const Fault& fault, FaultReport& report, const std::stop_token& stop) const {
    FaultyResult result{
        .fault = fault.id, .variant = variant_.id, .options = describe_options(settings_[0]), .form = form_};
    for (std::size_t draw = 0; draw < settings_.size() && !result.noticed(); ++draw) {
      if (stop.stop_requested()) throw Cancelled();
      const std::string reason = why_not(fault, draw, result, stop);
      if (reason.empty()) continue;
      report.without.push_back({fault.id, variant_.id, result.options, form_, reason});
      return;
    }
    if (!result.departure && !fault.silent.empty()) {
      report.without.push_back({fault.id, variant_.id, result.options, form_,
                                fmt::format("it changes no number: {}", fault.silent)});
      return;
    }
    report.results.push_back(std::move(result));
  }

 private:
  /// Runs one draw into `result`, or says why the form cannot have this fault.
  std::string why_not(const Fault& fault, std::size_t draw, FaultyResult& result,
                      const std::stop_token& stop) const {
    const Settings& settings = settings_[draw];
    if (const auto reason = variant_.rule->missing(form_, settings)) return *reason;
    const RandomCase random = revealing_case(seed_ + draw);
    ReferenceRun reference = reference_run({&variant_, settings, random, {chunk_size}}, Precision::f64, stop);
    const Sequence& sequence = reference.sequence();
    const auto trace = variant_.rule->trace(sequence, form_, Precision::f64, chunk_size);
    const std::optional<Equations> faulty = with_fault(fault, {trace->phases, trace->symbols});
    if (!faulty) return fmt::format("it takes {}, and this form has none in its equations", fault.needs);

    const Comparison comparison = compare_steps(*trace, *faulty, step_tolerance, stop);
    result.data = to_string(random);
    result.departure = comparison.departure;
    result.message = comparison.message;
    if (comparison.message.empty()) {
      const Tolerance allowed = tolerance(variant_, sequence.settings, form_, Precision::f64);
      result.judgement = reference.judge(comparison.output, form_, chunk_size, allowed, stop);
    }
    return "";
  }

  const Variant& variant_;
  Form form_;
  std::uint64_t seed_;
  std::vector<Settings> settings_;  // of every draw
};

}  // namespace

bool FaultyResult::noticed() const { return !message.empty() || !judgement.passed(); }

Index FaultReport::noticed() const { return std::ranges::count_if(results, &FaultyResult::noticed); }

FaultReport verify_faults(const FaultPlan& plan, std::span<const Variant> table,
                          const std::function<void(const std::string&)>& progress, std::stop_token stop) {
  std::vector<const Fault*> chosen;
  for (const std::string& id : plan.faults) chosen.push_back(&find_fault(id));
  if (plan.faults.empty()) {
    for (const Fault& fault : faults()) chosen.push_back(&fault);
  }
  std::vector<const Variant*> which;
  for (const std::string& id : plan.variants) which.push_back(&find_variant(id, table));
  if (plan.variants.empty()) {
    for (const Variant& variant : table) which.push_back(&variant);
  }
  FaultReport report;
  try {
    for (const Variant* variant : which) {
      for (const Settings& given : option_choices(*variant)) {
        if (progress) progress(fmt::format("{} {}", variant->id, describe_options(resolve(*variant, given))));
        for (const Form form : all_forms) {
          const FaultyForm faulty(*variant, given, form, plan.seed);
          for (const Fault* fault : chosen) faulty.run(*fault, report, stop);
        }
      }
    }
  } catch (const Cancelled&) {
    report.complete = false;
  }
  return report;
}

}  // namespace palimpsest
