#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/proof/verify_faults.h"

namespace palimpsest {

namespace {

template <class Row>
std::string form_of(const Row& row) {
  return fmt::format("{}{}{} {}", row.variant, row.options.empty() ? "" : " ", row.options, name(row.form));
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
nlohmann::ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

nlohmann::ordered_json to_json(const Departure& at) {
  return {{"token", at.token},     {"block", at.block},
          {"phase", at.phase},     {"operation", at.operation},
          {"title", at.title},     {"tensor", at.tensor},
          {"row", at.row},         {"column", at.column},
          {"got", number(at.got)}, {"expected", number(at.expected)}};
}

template <class Row>
nlohmann::ordered_json head(const Row& row) {
  return {{"fault", row.fault}, {"variant", row.variant}, {"options", row.options}, {"form", name(row.form)}};
}

}  // namespace

std::string to_table(const FaultReport& report) {
  std::string table;
  const auto add = [&](const FaultyResult& result) {
    table += fmt::format("{:<11} {} in {}\n", result.noticed() ? "fails" : "NOT NOTICED", result.fault,
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
    row["error"] = number(result.judgement.disagreement.error);
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
