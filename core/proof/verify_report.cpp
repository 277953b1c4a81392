#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/proof/verify.h"

namespace palimpsest {

namespace {

std::string with_options(const std::string& variant, const std::string& options) {
  return options.empty() ? variant : variant + " " + options;
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
    return fmt::format("{}, {} choices of options", first->variant, options.size());
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
    if (std::ranges::find(row->precisions, precision) == row->precisions.end())
      row->precisions.push_back(precision);
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
    if (const AmplifiedRuns& amplified = result.amplified; amplified.runs > 0) {
      table += fmt::format(
          "    {} of the runs {} allowed more than the tolerance; the largest error is {:.1e}: {}\n    {}\n",
          amplified.runs, amplified.runs == 1 ? "is" : "are", amplified.error, amplified.why,
          amplified.reproduction);
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
  const std::string cases = fmt::format("{} {}", report.cases, report.cases == 1 ? "case" : "cases");
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
