#include "core/proof/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/parallel_for.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

struct ComparedRun {
  std::size_t row;    // of the report
  Index tokens = -1;  // unknown where the data of a case cannot be opened
  Judgement judgement = {};
  Index chunk_size = 1;
  std::string missing = {};  // why the form does not exist for these sizes; mostly empty
  std::string why = {};      // it is allowed more than the tolerance; mostly empty
  std::string message = {};
};

/// Gathers the results of all cases, in whatever order they are finished.
class Verification {
 public:
  Verification(const VerifyPlan& plan, std::span<const Variant> table, std::stop_token stop)
      : plan_(plan), cases_(plan, table), stop_(std::move(stop)) {
    for (const OptionChoice& choice : cases_.choices) add_rows(choice);
    report_.planned = cases_.size;
  }

  VerifyReport run(const std::function<void(const VerifyProgress&)>& progress) {
    now_.total = report_.planned;
    parallel_for(report_.planned, plan_.jobs, [&](Index index) {
      if (is_asked_to_stop(stop_)) return;
      const VerifyCase verified = cases_.at(index);
      std::vector<ComparedRun> comparisons;
      try {
        comparisons = compare_forms(verified);
      } catch (const Cancelled&) {
        return;
      }
      const std::scoped_lock lock(mutex_);
      for (const ComparedRun& comparison : comparisons) add(verified, index, comparison);
      ++report_.cases;
      now_.variant = name_in_reports(verified.variant->id);
      now_.done = report_.cases;
      if (progress) progress(now_);
    });
    for (const auto& [row, reason] : too_large_) {
      const VerifyResult& result = rows_[row].result;
      report_.missing.push_back(
          {result.variant, result.options, result.device, result.form, result.precision, reason});
    }
    for (Row& row : rows_) {
      if (row.result.runs + row.result.overflown > 0) report_.results.push_back(std::move(row.result));
    }
    for (auto& [key, length] : lengths_) {
      length.result.rows = static_cast<Index>(length.rows.size());
      report_.lengths.push_back(length.result);
    }
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

  struct Length {
    LengthResult result;
    std::set<std::size_t> rows = {};  // that have runs of it
  };

  /// One row for every form, device and precision that exists; the others are missing.
  void add_rows(const OptionChoice& choice) {
    const Variant& variant = *choice.variant;
    const Settings settings = random_settings(variant, choice.given, plan_.seed);
    const std::string options = describe_options(settings);
    if (rows_of_.contains({variant.id, options})) return;
    rows_of_[{variant.id, options}] = {};
    for (const Backend* backend : plan_.backends) {
      for (const Form form : plan_.forms) {
        for (const Precision precision :
             plan_.precisions.empty() ? precisions_of(*backend) : plan_.precisions) {
          if (const auto reason = backend->missing(variant, settings, form, precision)) {
            report_.missing.push_back({variant.id, options, backend->name(), form, precision, *reason});
            continue;
          }
          rows_of_[{variant.id, options}].push_back(rows_.size());
          Tolerance allowed = tolerance(variant, settings, precision);
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

  std::vector<ComparedRun> compare_forms(const VerifyCase& verified) {
    std::vector<ComparedRun> comparisons;
    const auto found = rows_of_.find({verified.variant->id, describe_options(verified.given)});
    if (found == rows_of_.end()) return comparisons;
    for (const Precision precision : all_precisions) {
      std::vector<std::size_t> rows;
      std::ranges::copy_if(found->second, std::back_inserter(rows),
                           [&](std::size_t row) { return rows_[row].result.precision == precision; });
      if (!rows.empty()) compare_forms(verified, precision, rows, comparisons);
    }
    return comparisons;
  }

  /// A case that fails before any form runs fails them all; one that was asked for is refused.
  void compare_forms(const VerifyCase& verified, Precision precision, const std::vector<std::size_t>& rows,
                     std::vector<ComparedRun>& comparisons) {
    std::optional<ReferenceRun> reference;
    try {
      reference.emplace(reference_run(verified, precision, stop_));
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      if (!plan_.cases.empty()) throw;
      const Index tokens = verified.data.empty() ? verified.random.tokens : -1;
      for (const std::size_t row : rows)
        comparisons.push_back({.row = row, .tokens = tokens, .message = error.what()});
      return;
    }
    for (const std::size_t row : rows) {
      const VerifyResult& result = rows_[row].result;
      // Other forms have no chunks to differ in.
      const std::vector<Index> chunks =
          has_chunks(result.form) ? verified.chunk_sizes : std::vector<Index>{1};
      for (const Index chunk_size : chunks) {
        stop_if_asked(stop_);
        comparisons.push_back(compare_one(row, verified, *reference, chunk_size));
      }
    }
  }

  ComparedRun compare_one(std::size_t row, const VerifyCase& verified, ReferenceRun& reference,
                          Index chunk_size) {
    ComparedRun comparison{.row = row, .tokens = reference.sequence().tokens, .chunk_size = chunk_size};
    const Backend& backend = *rows_[row].backend;
    const VerifyResult& result = rows_[row].result;
    if ((comparison.judgement.overflows = reference.overflows())) return comparison;
    try {
      const Output got = run(backend, *verified.variant, reference.sequence(), result, chunk_size);
      comparison.judgement =
          reference.judge(got, result.form, chunk_size, {result.tolerance, result.exception}, stop_);
      // A form without chunks is set beside the first of the chunkwise ones.
      const Index told_of = has_chunks(result.form) ? chunk_size : verified.chunk_sizes.front();
      comparison.why = reference.why_amplified(comparison.judgement, result.form, told_of, stop_);
    } catch (const Cancelled&) {
      throw;
    } catch (const Unsupported& reason) {
      comparison.missing = reason.what();
    } catch (const InputError& error) {
      if (!plan_.cases.empty()) throw;
      comparison.message = error.what();
    } catch (const std::exception& error) {
      comparison.message = error.what();
    }
    return comparison;
  }

  Output run(const Backend& backend, const Variant& variant, const Sequence& sequence,
             const VerifyResult& result, Index chunk_size) {
    // Cases share a device other than the processor: one at a time.
    std::unique_lock<std::mutex> device(device_, std::defer_lock);
    if (!is_cpu(backend)) device.lock();
    return backend.run(variant, sequence, result.form, result.precision, chunk_size, stop_);
  }

  /// Counts one comparison. The order of cases does not matter: of two equally bad ones, the row keeps the
  /// one with the lower index.
  void add(const VerifyCase& verified, Index index, const ComparedRun& comparison) {
    Row& row = rows_[comparison.row];
    VerifyResult& result = row.result;
    if (!comparison.missing.empty()) {
      too_large_.insert({comparison.row, comparison.missing});
      return;
    }
    if (comparison.judgement.overflows) {
      ++result.overflown;
      return;
    }
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
    if (!cases_.are_random && comparison.tokens >= 0) add_to_length(comparison, result, failed);
    if (judgement.amplification > 1) {
      ++result.amplified.runs;
      if (judgement.says_nothing()) ++result.amplified.say_nothing;
      if (row.amplified.is_beaten_by(error, index)) {
        row.amplified = {error, index};
        result.amplified.error = error;
        result.amplified.factor = judgement.amplification;
        result.amplified.why = comparison.why;
        result.amplified.reproduction = command();
      }
    }
    double& worst = entry(now_.worst, result.precision);
    worst = std::max(worst, error);
    if (!row.worst.is_beaten_by(badness, index)) return;
    row.worst = {badness, index};
    result.message = comparison.message;
    result.worst = judgement.disagreement;
    result.amplification = judgement.amplification;
    result.reproduction = command();
    result.worst_case = std::make_shared<const VerifyCase>(verified);
    result.worst_chunk = comparison.chunk_size;
  }

  void add_to_length(const ComparedRun& comparison, const VerifyResult& row, bool failed) {
    Length& length = lengths_[{comparison.tokens, row.precision}];
    length.rows.insert(comparison.row);
    LengthResult& result = length.result;
    result.tokens = comparison.tokens;
    result.precision = row.precision;
    ++result.runs;
    if (failed) ++result.failed;
    const bool is_allowed_more = comparison.judgement.amplification > 1 || !row.exception.empty();
    if (is_allowed_more && !failed)
      ++result.more;
    else
      result.worst = std::max(result.worst, comparison.judgement.disagreement.error);
  }

  const VerifyPlan& plan_;
  PlannedCases cases_;
  std::stop_token stop_;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> rows_of_;  // by variant and options
  std::set<std::pair<std::size_t, std::string>> too_large_;  // forms of rows that sizes rule out, and why
  std::map<std::pair<Index, Precision>, Length> lengths_;
  VerifyReport report_;
  VerifyProgress now_;
  std::mutex mutex_;
  std::mutex device_;
};

std::string with_options(const std::string& variant, const std::string& options) {
  return name_in_reports(variant) + (options.empty() ? "" : " " + options);
}

std::string place(const Disagreement& worst) {
  if (worst.array.empty() || worst.error == 0) return "";
  return fmt::format("{}[{}, {}]", worst.array, worst.row, worst.column);
}

/// JSON has no infinity and no NaN: they become their names.
nlohmann::json number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

nlohmann::json to_json(const VerifyResult& result) {
  nlohmann::json json = {{"variant", result.variant},
                         {"options", result.options},
                         {"device", result.device},
                         {"form", name(result.form)},
                         {"precision", name(result.precision)},
                         {"runs", result.runs},
                         {"error", number(result.worst.error)},
                         {"failed", result.failed},
                         {"overflown", result.overflown},
                         {"tolerance", result.tolerance},
                         {"allowed", result.allowed()},
                         {"passed", result.passed()},
                         {"reproduction", result.reproduction}};
  if (!result.exception.empty()) json["exception"] = result.exception;
  if (!result.message.empty()) json["message"] = result.message;
  if (result.amplified.runs > 0) {
    json["amplified"] = {{"runs", result.amplified.runs},
                         {"error", number(result.amplified.error)},
                         {"factor", result.amplified.factor},
                         {"why", result.amplified.why},
                         {"say_nothing", result.amplified.say_nothing},
                         {"reproduction", result.amplified.reproduction}};
  }
  if (result.worst.error > 0) {
    json["where"] = {{"array", result.worst.array},
                     {"row", result.worst.row},
                     {"column", result.worst.column},
                     {"got", number(result.worst.got)},
                     {"expected", number(result.worst.expected)}};
  }
  return json;
}

/// A form of a variant that is missing for one reason, whatever the options and the precision.
struct MissingRows {
  const MissingForm* first = nullptr;
  std::set<std::string> options = {};
  std::vector<std::string> precisions = {};

  std::string title() const {
    if (options.size() == 1) return with_options(first->variant, first->options);
    return fmt::format("{}, {} choices of options", name_in_reports(first->variant), options.size());
  }
};

std::vector<MissingRows> missing_rows(const std::vector<MissingForm>& missing) {
  std::vector<MissingRows> rows;
  for (const MissingForm& form : missing) {
    const auto is_same = [&](const MissingRows& row) {
      return row.first->variant == form.variant && row.first->device == form.device &&
             row.first->form == form.form && row.first->reason == form.reason;
    };
    auto row = std::ranges::find_if(rows, is_same);
    if (row == rows.end()) row = rows.insert(rows.end(), {.first = &form});
    row->options.insert(form.options);
    const std::string precision = name(form.precision);
    if (!is_among(precision, row->precisions)) row->precisions.push_back(precision);
  }
  return rows;
}

/// A line for every length and precision; none for a single case, which has its row.
std::string table_of_lengths(const VerifyReport& report) {
  if (report.planned < 2 || report.lengths.empty()) return "";
  std::string table = fmt::format("{:>7}  {:<9} {:>12} {:>7} {:>9}  {}\n", "tokens", "precision", "rows",
                                  "runs", "error", "allowed more");
  for (const LengthResult& result : report.lengths) {
    table += fmt::format("{:>7}  {:<9} {:>12} {:>7} {:>9.1e}  {}{}\n", result.tokens, name(result.precision),
                         fmt::format("{} of {}", result.rows, report.rows(result.precision)), result.runs,
                         result.worst, result.more,
                         result.failed > 0 ? fmt::format(", {} FAILED", result.failed) : "");
  }
  return table;
}

}  // namespace

bool VerifyReport::passed() const {
  return runs() > 0 && std::ranges::all_of(results, &VerifyResult::passed);
}

Index VerifyReport::runs() const {
  Index total = 0;
  for (const VerifyResult& result : results) total += result.runs;
  return total;
}

Index VerifyReport::rows(Precision precision) const {
  return std::ranges::count(results, precision, &VerifyResult::precision);
}

VerifyReport verify(const VerifyPlan& plan, std::span<const Variant> table,
                    const std::function<void(const VerifyProgress&)>& progress, std::stop_token stop) {
  return Verification(plan, table, std::move(stop)).run(progress);
}

std::string to_table(const VerifyReport& report) {
  std::size_t widest = 0;
  for (const VerifyResult& result : report.results) {
    widest = std::max(widest, with_options(result.variant, result.options).size());
  }
  std::string table = fmt::format("{:<{}}  {:<10} {:<6} {:<9} {:>6} {:>9} {:>9}  {}\n", "variant", widest,
                                  "form", "device", "precision", "runs", "error", "allowed", "worst at");
  Index failed = 0;
  for (const VerifyResult& result : report.results) {
    table += fmt::format("{:<{}}  {:<10} {:<6} {:<9} {:>6} {:>9.1e} {:>9.1e}  {}\n",
                         with_options(result.variant, result.options), widest, name(result.form),
                         result.device, name(result.precision), result.runs, result.worst.error,
                         result.allowed(), place(result.worst));
    if (!result.exception.empty()) table += fmt::format("    allowed more: {}\n", result.exception);
    if (result.overflown > 0)
      table += fmt::format("    {} more were not compared: the text itself overflows {}\n", result.overflown,
                           name(result.precision));
    if (const AmplifiedRuns& amplified = result.amplified; amplified.runs > 0) {
      table +=
          fmt::format("    {} allowed more than the tolerance; the largest error is {:.1e}: {}\n    {}\n",
                      counted(amplified.runs, "of the runs is", "of the runs are"), amplified.error,
                      amplified.why, amplified.reproduction);
    }
    if (result.passed()) continue;
    failed += result.failed;
    if (!result.message.empty())
      table += fmt::format("    FAILED in {} runs: {}\n", result.failed, result.message);
    else
      table += fmt::format("    FAILED in {} runs, worst: {} is {:.9g}, expected {:.9g}\n", result.failed,
                           place(result.worst), result.worst.got, result.worst.expected);
    table += fmt::format("    {}\n", result.reproduction);
  }
  for (const MissingRows& rows : missing_rows(report.missing)) {
    table += fmt::format("{:<{}}  {:<10} {:<6} {:<9} missing: {}\n", rows.title(), widest,
                         name(rows.first->form), rows.first->device,
                         fmt::format("{}", fmt::join(rows.precisions, ", ")), rows.first->reason);
  }
  if (report.runs() == 0) return table + "no run was compared\n";
  table += table_of_lengths(report);
  const std::string cases = counted(report.cases, "case", "cases");
  Index lost = 0;
  for (const VerifyResult& result : report.results) lost += result.amplified.say_nothing;
  const std::string but =
      lost == 0 ? "" : fmt::format("; in {} of them rounding leaves nothing of an array to compare", lost);
  table += failed == 0
               ? fmt::format("all {} runs of {} agree with the f64 recurrence{}\n", report.runs(), cases, but)
               : fmt::format("{} of {} runs FAILED, of {}{}\n", failed, report.runs(), cases, but);
  return table;
}

std::string to_json(const VerifyReport& report) {
  nlohmann::json json = {{"passed", report.passed()},
                         {"complete", report.complete()},
                         {"cases", report.cases},
                         {"planned", report.planned},
                         {"runs", report.runs()},
                         {"results", nlohmann::json::array()},
                         {"missing", nlohmann::json::array()},
                         {"lengths", nlohmann::json::array()}};
  if (!report.date.empty()) json["date"] = report.date;
  for (const VerifyResult& result : report.results) json["results"].push_back(to_json(result));
  for (const MissingForm& missing : report.missing) {
    json["missing"].push_back({{"variant", missing.variant},
                               {"options", missing.options},
                               {"device", missing.device},
                               {"form", name(missing.form)},
                               {"precision", name(missing.precision)},
                               {"reason", missing.reason}});
  }
  for (const LengthResult& length : report.lengths) {
    json["lengths"].push_back({{"tokens", length.tokens},
                               {"precision", name(length.precision)},
                               {"rows", length.rows},
                               {"of_rows", report.rows(length.precision)},
                               {"runs", length.runs},
                               {"failed", length.failed},
                               {"error", number(length.worst)},
                               {"allowed_more", length.more}});
  }
  // A path need not be valid UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace palimpsest
