#include "app/commands/verify_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/commands/interrupt.h"
#include "app/commands/progress_line.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/proof/faults.h"

namespace palimpsest {

int list_faults(const Console& console) {
  for (const Fault& fault : faults()) {
    console.out << fmt::format("{:<27} {}\n{:<27} {}\n", fault.id, fault.label, "", fault.sentence);
  }
  return exit_done;
}

int run_verify_faults(FaultPlan plan, const std::optional<std::string>& json, const Console& console) {
  const bool all = std::erase(plan.faults, "all") > 0;
  for (const std::string& id : plan.faults) find_fault(id);
  if (all) plan.faults.clear();
  if (json) writable_target(*json);  // first: before the work
  const FaultReport report = [&] {
    const Interrupt interrupt;
    ProgressLine line(console);
    const auto show = [&](const FaultProgress& now) {
      line.show(now.done, now.total, fmt::format("{} faulty forms fail, {}", now.noticed, now.variant));
    };
    return verify_faults(plan, variants(), show, interrupt.token());
  }();
  console.out << to_table(report);
  if (!report.complete()) {
    console.out << fmt::format("Interrupted: the report covers {} of {} cases.\n", report.cases,
                               report.planned);
  }
  if (json) {
    const std::string text = to_json(report);
    replace_file(*json, std::as_bytes(std::span(text)));
  }
  if (!report.complete()) throw Cancelled();
  const bool all_fail = report.noticed() == static_cast<Index>(report.results.size());
  return all_fail && !report.results.empty() ? exit_failed_checks : exit_done;
}

}  // namespace palimpsest
