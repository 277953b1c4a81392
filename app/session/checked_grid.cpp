#include "app/session/checked_grid.h"

#include "app/session/devices.h"
#include "app/session/session.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr std::size_t at_once = 2;  // variants that are being verified

/// Of all choices of options the worst; null: nothing has been run.
const VerifyResult* worst_of(const VerifyReport& report, const GridColumn& column) {
  const VerifyResult* worst = nullptr;
  for (const VerifyResult& result : report.results) {
    if (result.form != column.form || result.precision != column.precision ||
        result.device != column.backend->name())
      continue;
    const auto badness = [](const VerifyResult& each) {
      return each.passed() ? each.worst.error / each.allowed() : 1e300;
    };
    if (!worst || badness(result) > badness(*worst)) worst = &result;
  }
  return worst;
}

}  // namespace

const std::vector<GridColumn>& grid_columns() {
  static const std::vector<GridColumn> all = [] {
    std::vector<GridColumn> columns;
    for (const Backend* backend : backends())
      for (const Precision precision : precisions_of(*backend))
        for (const Form form : all_forms) columns.push_back({backend, precision, form});
    return columns;
  }();
  return all;
}

const std::vector<std::vector<bool>>& missing_forms() {
  static const std::vector<std::vector<bool>> all = [] {
    std::vector<std::vector<bool>> rows;
    for (const Variant& variant : variants()) {
      std::vector<bool>& row = rows.emplace_back(grid_columns().size(), true);
      for (const Settings& given : option_choices(variant)) {
        const Settings settings = random_settings(variant, given, 1);
        for (std::size_t i = 0; i < row.size(); ++i) {
          const GridColumn& column = grid_columns()[i];
          if (!column.backend->missing(variant, settings, column.form, column.precision)) row[i] = false;
        }
      }
    }
    return rows;
  }();
  return all;
}

bool GridReports::complete() const { return done() == variants().size(); }

VerifyReport GridReports::joined() const {
  VerifyReport all;
  for (const Variant& variant : variants()) {
    const auto row = reports.find(variant.id);
    if (row == reports.end()) {
      ++all.planned;  // of a variant that is not there yet nothing is finished
      continue;
    }
    const VerifyReport& report = *row->second.report;
    all.results.insert(all.results.end(), report.results.begin(), report.results.end());
    all.missing.insert(all.missing.end(), report.missing.begin(), report.missing.end());
    all.cases += report.cases;
    all.planned += report.planned;
  }
  return all;
}

void CheckedGrid::start(Session& session) {
  if (found().complete()) {
    for (const Variant& variant : variants())
      session.questions().forget(VerifiedVariant{variant.id, with_long_texts});
    reports() = {};
  }
  runs_ = true;
}

void CheckedGrid::keep_checking(Session& session) {
  if (!runs_) return;
  GridReports& known = reports();
  std::size_t wanted = 0;
  under_way_ = 0;
  for (const Variant& variant : variants()) {
    if (known.reports.contains(variant.id) || known.problems.contains(variant.id)) continue;
    if (wanted == at_once) break;
    const Known<VerifyReport> answer =
        session.questions().ask(VerifiedVariant{variant.id, with_long_texts}, Urgency::later);
    if (wanted++ == 0) under_way_ = answer.progress;
    if (answer.value && !answer.stale) {
      GridReports::Row& row = known.reports[variant.id];
      row.report = answer.value;
      for (const GridColumn& column : grid_columns()) row.cells.push_back(worst_of(*answer.value, column));
    }
    if (!answer.reason.empty()) known.problems[variant.id] = answer.reason;
  }
  if (wanted == 0) runs_ = false;
}

double CheckedGrid::progress() const {
  return (static_cast<double>(found().done()) + under_way_) / static_cast<double>(variants().size());
}

}  // namespace palimpsest
