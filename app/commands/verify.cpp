#include "core/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/devices.h"
#include "app/commands/interrupt.h"
#include "app/commands/verify_faults.h"
#include "core/error.h"

namespace palimpsest {

namespace {

struct VerifyOptions {
  std::vector<std::string> variants;
  std::string json;
  std::vector<std::string> faults;
  bool lists_faults = false;
};

/// A report, and how far it came.
struct Outcome {
  VerifyReport report;
  std::size_t done = 0;  // variants
  bool interrupted = false;
};

/// One line on a terminal that the next one replaces.
class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : console_(console) {}
  ~ProgressLine() { write(""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void write(const std::string& line) const {
    constexpr std::size_t narrow_terminal = 79;  // a line that wraps cannot be replaced
    if (console_.shows_progress)
      console_.error << "\r\x1b[K" << line.substr(0, narrow_terminal) << std::flush;
  }

 private:
  const Console& console_;
};

template <class Row>
void append(std::vector<Row>& rows, std::vector<Row>&& more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Verifies one variant after the other, so that an interruption leaves a report of those that are done.
Outcome verify_each(const std::vector<std::string>& ids, VerifyPlan plan, const Console& console) {
  const Interrupt interrupt;
  const ProgressLine line(console);
  Outcome outcome;
  for (const std::string& id : ids) {
    plan.variants = {id};
    const auto progress = [&](const VerifyProgress& at) {
      line.write(fmt::format("variant {} of {}: {} {} ({} of {})", outcome.done + 1, ids.size(), at.variant,
                             at.options, at.done, at.total));
    };
    try {
      VerifyReport report = verify(plan, variants(), progress, interrupt.token());
      append(outcome.report.results, std::move(report.results));
      append(outcome.report.missing, std::move(report.missing));
    } catch (const Cancelled&) {
      outcome.interrupted = true;
      return outcome;
    }
    ++outcome.done;
  }
  return outcome;
}

/// The report with whether all that was asked for was done.
void write_json(std::ostream& file, const Outcome& outcome, const std::string& path) {
  auto json = nlohmann::ordered_json::parse(to_json(outcome.report));
  json["complete"] = !outcome.interrupted;
  file << json.dump(1) << '\n' << std::flush;
  if (!file) throw InputError(fmt::format("{}: could not be written", path));
}

int run_verify(const VerifyOptions& options, const Console& console) {
  std::vector<std::string> ids = options.variants;
  for (const std::string& id : ids) find_variant(id);
  if (ids.empty()) std::ranges::transform(variants(), std::back_inserter(ids), &Variant::id);
  VerifyPlan plan;
  plan.backends.clear();
  std::string unchecked;
  for (const Backend* backend : backends()) {
    const std::string reason = unavailable(*backend);
    if (reason.empty())
      plan.backends.push_back(backend);
    else
      unchecked += fmt::format("The device {} was not checked: {}\n", backend->name(), reason);
  }
  // Opened first: a place that cannot be written is not worth minutes of work.
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) throw InputError(fmt::format("{}: cannot be written", options.json));
  }

  const Outcome outcome = verify_each(ids, plan, console);
  console.out << to_table(outcome.report) << unchecked;
  if (outcome.interrupted) {
    console.out << fmt::format("Interrupted: the report covers {} of {} variants.\n", outcome.done,
                               ids.size());
  }
  if (json.is_open()) write_json(json, outcome, options.json);
  if (outcome.interrupted) throw Cancelled();
  return outcome.report.passed() ? exit_done : exit_failed_checks;
}

}  // namespace

Task add_verify(CLI::App& command, Console console) {
  const auto options = std::make_shared<VerifyOptions>();
  command.add_option("--variant", options->variants, "Only these variants (default: all)")->take_all();
  command.add_option("--json", options->json, "Write the report to this file as well");
  command
      .add_option("--fault", options->faults,
                  "Make every form wrong in this way, or \"all\": verification must fail, and says where")
      ->take_all();
  command.add_flag("--faults", options->lists_faults, "List what --fault can make wrong");
  return [options, console] {
    if (options->lists_faults) return list_faults(console);
    if (!options->faults.empty())
      return run_verify_faults(options->faults, options->variants, options->json, console);
    return run_verify(*options, console);
  };
}

}  // namespace palimpsest
