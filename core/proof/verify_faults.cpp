#include "core/proof/verify.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/parallel_for.h"

namespace palimpsest {

namespace {

/// The result of one fault in one form in one case.
struct Attempt {
  std::size_t row;
  FaultyResult result;       // without data before it is tried
  std::string without = {};  // why the form cannot have it; empty if it can
};

/// Gathers what the cases show, in whatever order they are finished.
class FaultVerification {
 public:
  FaultVerification(const FaultPlan& plan, std::stop_token stop)
      : plan_(plan.cases), cases_(plan.cases, variants()), stop_(std::move(stop)) {
    require_f64_on_processor();
    for (const std::string& id : plan.faults) faults_.push_back(&find_fault(id));
    if (plan.faults.empty()) {
      for (const Fault& fault : faults()) faults_.push_back(&fault);
    }
    for (const OptionChoice& choice : cases_.choices) add_rows(choice);
    now_.total = cases_.size;
  }

  FaultReport run(const std::function<void(const FaultProgress&)>& progress) {
    parallel_for(cases_.size, plan_.jobs, [&](Index index) {
      if (is_asked_to_stop(stop_)) return;
      const VerifyCase verified = cases_.at(index);
      std::vector<Attempt> attempts;
      try {
        attempts = attempt(verified, index);
      } catch (const Cancelled&) {
        return;
      }
      const std::scoped_lock lock(mutex_);
      for (Attempt& each : attempts) add(std::move(each), index);
      now_.variant = name_in_reports(verified.variant->id);
      ++now_.done;
      if (progress) progress(now_);
    });
    return report();
  }

 private:
  using Choice = std::pair<std::string, std::string>;  // variant and options

  struct Row {
    const Fault* fault;
    FaultyResult result;
    Index index = -1;      // of its case; -1: none could have the fault
    bool departs = false;  // whether any step is off in any case
    std::string without = {};
    Index without_index = -1;
  };

  void require_f64_on_processor() const {
    if (std::ranges::any_of(plan_.precisions, [](Precision p) { return p != Precision::f64; })) {
      throw Unsupported(
          "a fault is traced step by step in f64: in f32 the rounding of a right step is as large as the "
          "effect of some faults");
    }
    if (std::ranges::any_of(plan_.backends, [](const Backend* each) { return !is_cpu(*each); }))
      throw Unsupported("equations with a fault are computed on the cpu only");
  }

  void add_rows(const OptionChoice& choice) {
    const std::string options = describe_options(random_settings(*choice.variant, choice.given, plan_.seed));
    const Choice key = {choice.variant->id, options};
    if (rows_of_.contains(key)) return;
    for (const Form form : plan_.forms) {
      for (const Fault* fault : faults_) {
        rows_of_[key].push_back(rows_.size());
        rows_.push_back(
            {fault, {.fault = fault->id, .variant = choice.variant->id, .options = options, .form = form}});
      }
    }
  }

  /// The rows that this case may still say something about: those of `form` that no earlier case has settled.
  std::vector<Attempt> open_rows(const Choice& choice, Form form, Index index) {
    const std::scoped_lock lock(mutex_);
    std::vector<Attempt> open;
    for (const std::size_t row : rows_of_.at(choice)) {
      const FaultyResult& known = rows_[row].result;
      const bool is_settled = rows_[row].index >= 0 && rows_[row].index < index && known.noticed();
      if (known.form == form && !is_settled)
        open.push_back({row, {known.fault, known.variant, known.options, form}});
    }
    return open;
  }

  std::vector<Attempt> attempt(const VerifyCase& verified, Index index) {
    const Choice choice = {verified.variant->id, describe_options(verified.given)};
    std::vector<Attempt> attempts;
    std::optional<ReferenceRun> reference;
    for (const Form form : plan_.forms) {
      std::vector<Attempt> mine = open_rows(choice, form, index);
      if (mine.empty()) continue;
      std::optional<std::string> missing = verified.variant->rule->missing(form, verified.given);
      if (!missing && verified.random.tokens == 0) missing = "there is no token, so no step can be wrong";
      for (Attempt& each : mine) each.without = missing.value_or("");
      if (!missing && !reference) reference.emplace(reference_run(verified, Precision::f64, stop_));
      if (!missing) attempt_form(verified, *reference, form, mine);
      std::ranges::move(mine, std::back_inserter(attempts));
    }
    return attempts;
  }

  /// Every fault in one form of one case: in chunks of the first size that shows it, or of the one where it
  /// is furthest off.
  void attempt_form(const VerifyCase& verified, ReferenceRun& reference, Form form,
                    std::vector<Attempt>& attempts) {
    try {
      // Other forms have no chunks to differ in.
      for (const Index size : has_chunks(form) ? verified.chunk_sizes : std::vector<Index>{1})
        attempt_size(verified, reference, form, size, attempts);
    } catch (const Unsupported& reason) {  // no room for so many tokens
      for (Attempt& each : attempts) {
        if (!each.result.noticed()) each.without = reason.what();
      }
    }
  }

  void attempt_size(const VerifyCase& verified, ReferenceRun& reference, Form form, Index size,
                    std::vector<Attempt>& attempts) {
    const Rule& rule = *verified.variant->rule;
    const Sequence& sequence = reference.sequence();
    require_footprint(rule.footprint(sequence, form, Precision::f64, size), sequence, form, size, true);
    const auto trace = rule.trace(sequence, form, Precision::f64, size);
    for (Attempt& each : attempts) {
      stop_if_asked(stop_);
      if (!each.result.noticed() && each.without.empty())
        attempt_fault(verified, reference, *trace, size, each);
    }
  }

  void attempt_fault(const VerifyCase& verified, ReferenceRun& reference, Trace& trace, Index chunk_size,
                     Attempt& attempt) {
    const Fault& fault = *rows_[attempt.row].fault;
    const auto judge = [&](const Output& output) {
      const Tolerance allowed = tolerance(*verified.variant, reference.sequence().settings, Precision::f64);
      return reference.judge(output, trace.form, chunk_size, allowed, stop_);
    };
    std::optional<FaultRun> run = run_with(fault, trace, judge, stop_);
    if (!run) {
      attempt.without = fmt::format("it needs {}, which the equations of this form do not have", fault.needs);
      return;
    }
    FaultyResult result = attempt.result;
    result.data = data_of(verified);
    result.chunk_size = chunk_size;
    result.departure = std::move(run->departure);
    result.message = std::move(run->message);
    result.judgement = std::move(run->judgement);
    result.reproduction = fmt::format(
        "{} --fault {}", reproduction(verified, cpu_backend().name(), trace.form, Precision::f64, chunk_size),
        fault.id);
    if (attempt.result.data.empty() || is_worse(result, attempt.result)) attempt.result = std::move(result);
  }

  static bool is_worse(const FaultyResult& a, const FaultyResult& b) {
    if (a.noticed() != b.noticed()) return a.noticed();
    return !a.noticed() && a.judgement.disagreement.error > b.judgement.disagreement.error;
  }

  /// Takes in what a case shows. The order of cases does not matter: a row keeps the lowest index of those
  /// that notice the fault, or of those that are as far off.
  void add(Attempt attempt, Index index) {
    Row& row = rows_[attempt.row];
    if (!attempt.without.empty()) {
      if (row.without_index >= 0 && row.without_index < index) return;
      row.without = std::move(attempt.without);
      row.without_index = index;
      return;
    }
    row.departs = row.departs || attempt.result.departure.has_value();
    const bool was_noticed = row.index >= 0 && row.result.noticed();
    const bool is_earlier = row.index < 0 || index < row.index;
    const bool is_as_bad =
        row.index >= 0 && !is_worse(row.result, attempt.result) && !is_worse(attempt.result, row.result);
    if (row.index >= 0 && !is_worse(attempt.result, row.result) && !(is_as_bad && is_earlier)) return;
    row.result = std::move(attempt.result);
    row.index = index;
    if (!was_noticed && row.result.noticed()) ++now_.noticed;
  }

  FaultReport report() {
    FaultReport report;
    report.cases = now_.done;
    report.planned = now_.total;
    for (Row& row : rows_) {
      const FaultyResult& result = row.result;
      const bool departs = result.noticed() ? result.departure.has_value() : row.departs;
      const auto without = [&](const std::string& reason) {
        report.without.push_back({result.fault, result.variant, result.options, result.form, reason});
      };
      if (row.index < 0) {
        if (row.without_index >= 0) without(row.without);
      } else if (!departs && !row.fault->silent.empty()) {
        without(fmt::format("it changes no number: {}", row.fault->silent));
      } else {
        report.results.push_back(std::move(row.result));
      }
    }
    return report;
  }

  const VerifyPlan& plan_;
  PlannedCases cases_;
  std::stop_token stop_;
  std::vector<const Fault*> faults_;
  std::vector<Row> rows_;
  std::map<Choice, std::vector<std::size_t>> rows_of_;
  FaultProgress now_;
  std::mutex mutex_;
};

template <class Row>
std::string form_of(const Row& row) {
  return fmt::format("{}{}{} {}", name_in_reports(row.variant), row.options.empty() ? "" : " ", row.options,
                     name(row.form));
}

/// The forms that lack a fault for one reason.
struct Faultless {
  std::string fault;
  std::string reason;
  std::vector<std::string> forms = {};
  std::set<std::string> variants = {};

  std::string where() const {
    if (forms.size() == 1) return forms.front();
    if (variants.size() == 1) return fmt::format("{} forms of {}", forms.size(), *variants.begin());
    return fmt::format("{} forms of {} variants", forms.size(), variants.size());
  }
};

std::vector<Faultless> faultless(const std::vector<FaultlessForm>& forms) {
  std::vector<Faultless> rows;
  for (const FaultlessForm& form : forms) {
    const auto is_same = [&](const Faultless& row) {
      return row.fault == form.fault && row.reason == form.reason;
    };
    auto row = std::ranges::find_if(rows, is_same);
    if (row == rows.end()) row = rows.insert(rows.end(), {.fault = form.fault, .reason = form.reason});
    row->forms.push_back(form_of(form));
    row->variants.insert(form.variant);
  }
  return rows;
}

/// JSON has no infinity and no NaN: they become their names.
nlohmann::ordered_json ordered_number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

nlohmann::ordered_json to_json(const Departure& at) {
  return {{"token", at.token},
          {"block", at.block},
          {"phase", at.phase},
          {"operation", at.operation},
          {"title", at.title},
          {"tensor", at.tensor},
          {"row", at.row},
          {"column", at.column},
          {"got", ordered_number(at.got)},
          {"expected", ordered_number(at.expected)}};
}

template <class Row>
nlohmann::ordered_json head(const Row& row) {
  return {{"fault", row.fault}, {"variant", row.variant}, {"options", row.options}, {"form", name(row.form)}};
}

}  // namespace

VerifyPlan revealing_plan() {
  VerifyPlan plan;
  plan.precisions = {Precision::f64};
  plan.lengths = {18};
  plan.chunk_sizes = {4};
  plan.sizes = {{6, 6}};
  plan.wide_sizes = {};
  plan.initial_states = {true};
  plan.log_gates = {false};
  plan.batch_sizes = {};
  plan.keeps = false;
  plan.draws = 8;
  return plan;
}

bool FaultyResult::noticed() const { return !message.empty() || !judgement.passed(); }

Index FaultReport::noticed() const { return std::ranges::count_if(results, &FaultyResult::noticed); }

FaultReport verify_faults(const FaultPlan& plan, const std::function<void(const FaultProgress&)>& progress,
                          std::stop_token stop) {
  return FaultVerification(plan, std::move(stop)).run(progress);
}

std::string to_table(const FaultReport& report) {
  std::string table;
  const auto add = [&](const FaultyResult& result) {
    table += fmt::format("{:<11} {} in {}\n", result.noticed() ? "fails" : "NOT DETECTED", result.fault,
                         form_of(result));
    if (result.departure) table += fmt::format("    first at {}\n", to_string(*result.departure));
    if (!result.message.empty()) {
      table += fmt::format("    {}\n", result.message);
    } else {
      table += fmt::format("    outputs and states are off by {:.1e} ({}{})\n",
                           result.judgement.disagreement.error, result.data,
                           has_chunks(result.form) ? fmt::format(", chunks of {}", result.chunk_size) : "");
    }
  };
  for (const FaultyResult& result : report.results) {
    if (result.noticed()) add(result);
  }
  for (const Faultless& row : faultless(report.without)) {
    table += fmt::format("{:<11} {} in {}: {}\n", "not there", row.fault, row.where(), row.reason);
  }
  for (const FaultyResult& result : report.results) {
    if (result.noticed()) continue;
    add(result);
    table += fmt::format("    {}\n", result.reproduction);
  }
  return table + fmt::format("{} of {} faulty forms fail.\n", report.noticed(), report.results.size());
}

std::string to_json(const FaultReport& report) {
  nlohmann::ordered_json json = {{"complete", report.complete()},
                                 {"cases", report.cases},
                                 {"planned", report.planned},
                                 {"noticed", report.noticed()},
                                 {"faulty", nlohmann::ordered_json::array()},
                                 {"without", nlohmann::ordered_json::array()}};
  for (const FaultyResult& result : report.results) {
    nlohmann::ordered_json row = head(result);
    row["noticed"] = result.noticed();
    row["data"] = result.data;
    row["chunk"] = result.chunk_size;
    row["error"] = ordered_number(result.judgement.disagreement.error);
    if (!result.message.empty()) row["message"] = result.message;
    if (result.departure) row["departure"] = to_json(*result.departure);
    row["reproduction"] = result.reproduction;
    json["faulty"].push_back(std::move(row));
  }
  for (const FaultlessForm& form : report.without) {
    nlohmann::ordered_json row = head(form);
    row["reason"] = form.reason;
    json["without"].push_back(std::move(row));
  }
  // A path need not be valid UTF-8.
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace palimpsest
