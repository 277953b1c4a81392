#include "app/commands/verify_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/commands/interrupt.h"
#include "core/error.h"
#include "core/faults.h"
#include "core/io/file.h"
#include "core/verify_faults.h"

namespace palimpsest {

int list_faults(const Console& console) {
  for (const Fault& fault : faults()) {
    console.out << fmt::format("{:<27} {}\n{:<27} {}\n", fault.id, fault.label, "", fault.sentence);
  }
  return exit_done;
}

int run_verify_faults(const std::vector<std::string>& faults, const std::vector<std::string>& variants,
                      const std::optional<std::string>& json, const Console& console) {
  FaultPlan plan{.faults = faults, .variants = variants};
  const bool all = std::erase(plan.faults, "all") > 0;
  for (const std::string& id : plan.faults) find_fault(id);
  if (all) plan.faults.clear();
  for (const std::string& id : plan.variants) find_variant(id);
  if (json) writable_target(*json);  // first: before the work
  const Interrupt interrupt;
  const FaultReport report = verify_faults(plan, palimpsest::variants(), {}, interrupt.token());
  console.out << to_table(report);
  if (!report.complete) console.out << "Interrupted: the report covers a part of the forms.\n";
  if (json) {
    const std::string text = to_json(report);
    replace_file(*json, std::as_bytes(std::span(text)));
  }
  if (!report.complete) throw Cancelled();
  const bool all_fail = report.noticed() == static_cast<Index>(report.results.size());
  return all_fail && !report.results.empty() ? exit_failed_checks : exit_done;
}

}  // namespace palimpsest
