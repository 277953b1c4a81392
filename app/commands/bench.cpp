#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/devices.h"
#include "app/session/races.h"
#include "app/session/words.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/race/figures.h"
#include "core/race/race.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

std::string form_text(const RaceEntry& entry) {
  if (entry.chunk_size == 0) return name(entry.form);
  return fmt::format("{} {}", name(entry.form), entry.chunk_size);
}

/// Curves of one shape share a table.
std::string shape_text(const RaceEntry& entry) {
  return fmt::format("B {}, H {}, K {}, V {}", entry.batches, entry.heads, entry.dk, entry.dv);
}

/// The measured points of a shape, a row for each curve.
std::string times_text(const RaceReport& report, const std::string& shape) {
  std::set<Index> lengths;
  std::vector<std::vector<const RacePoint*>> curves;  // the points of each
  bool transfers = false;
  for (const RacePoint& point : report.points) {
    if (!point.measured() || shape_text(point.entry) != shape) continue;
    const auto is_of = [&](const std::vector<const RacePoint*>& curve) {
      RaceEntry entry = curve.front()->entry;
      entry.tokens = point.entry.tokens;
      return entry == point.entry;
    };
    auto found = std::ranges::find_if(curves, is_of);
    if (found == curves.end()) found = curves.emplace(found);
    found->push_back(&point);
    lengths.insert(point.entry.tokens);
    transfers = transfers || point.transfers.median > 0;
  }
  TextRows rows = {{"variant", "form", "device", ""}};
  for (const Index tokens : lengths) rows.front().push_back(fmt::format("T {}", tokens));
  for (const char* title : {"middle half", "GFLOP/s", "roof"}) rows.front().emplace_back(title);
  if (transfers) rows.front().insert(rows.front().end() - 2, "with transfers");
  for (const auto& points : curves) {
    const RaceEntry& entry = points.front()->entry;
    rows.push_back({entry.variant, form_text(entry), entry.device, name(entry.precision)});
    const RacePoint* longest = points.front();
    for (const Index tokens : lengths) {
      const auto found =
          std::ranges::find(points, tokens, [](const RacePoint* point) { return point->entry.tokens; });
      rows.back().push_back(found == points.end() ? "-" : duration((*found)->compute.median));
      if (found != points.end()) longest = *found;
    }
    rows.back().push_back(
        fmt::format("{} to {}", duration(longest->compute.low), duration(longest->compute.high)));
    if (transfers) rows.back().push_back(duration(longest->whole.median));
    const double seconds = longest->compute.median;
    rows.back().push_back(seconds > 0 ? fmt::format("{:.3g}", longest->work.flops / seconds / 1e9) : "-");
    rows.back().push_back(
        report.roof_of(entry) ? fmt::format("{:.2g}%", 100 * roof_fraction(*longest, report)) : "-");
  }
  return columns(rows);
}

/// One line for every reason, with all that it concerns.
TextRows missing_rows(const RaceReport& report) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> concerned;
  for (const RacePoint& point : report.points) {
    if (point.measured()) continue;
    if (!concerned.contains(point.missing)) reasons.push_back(point.missing);
    std::vector<std::string>& all = concerned[point.missing];
    const std::string what = fmt::format("{} {} {} {}", point.entry.variant, form_text(point.entry),
                                         point.entry.device, name(point.entry.precision));
    if (std::ranges::find(all, what) == all.end()) all.push_back(what);
  }
  TextRows rows;
  for (const std::string& reason : reasons)
    rows.push_back({fmt::format("{}: {}", fmt::join(concerned[reason], ", "), reason)});
  return rows;
}

/// "gated_deltanet chunkwise cpu f32, T = 4096".
std::string in_words(const RaceEntry& entry) {
  return fmt::format("{} {} {} {}, T = {}", entry.variant, form_text(entry), entry.device,
                     name(entry.precision), entry.tokens);
}

/// A report as tables for a terminal: the times of every curve, what is missing and why, what the machine can
/// do, where curves cross.
std::string race_text(const RaceReport& report) {
  const RaceMachine& machine = report.machine;
  std::string text = fmt::format("{}\n{}, {}\n", machine.program, machine.processor,
                                 counted(machine.threads, "thread", "threads"));
  if (!machine.gpu.empty())
    text += fmt::format("{}, driver for CUDA {}, clocks {}\n", machine.gpu, machine.driver, machine.clocks);
  std::vector<std::string> shapes;
  for (const RacePoint& point : report.points) {
    const std::string shape = shape_text(point.entry);
    if (point.measured() && std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  for (const std::string& shape : shapes)
    text +=
        fmt::format("\n{}: median of computing alone; from \"middle half\" on at the longest T\n", shape) +
        times_text(report, shape);
  if (const TextRows rows = missing_rows(report); !rows.empty())
    text += "\nWhat was not measured, and why\n" + columns(rows);
  TextRows notes;
  for (const RaceTiming& timing : report.timing) notes.push_back({timing.device, timing.words});
  for (const RaceRoof& roof : report.roofs)
    notes.push_back(
        {fmt::format("{} {}", roof.device, name(roof.precision)),
         fmt::format("roof: {:.3g} GB/s ({}), {:.4g} GFLOP/s ({})", roof.roof.bytes_per_second / 1e9,
                     roof.roof.copy, roof.roof.flops_per_second / 1e9, roof.roof.product)});
  if (!notes.empty()) text += "\nWhat is timed, and what the machine does at most\n" + columns(notes);
  TextRows crossovers;
  for (const RaceCrossover& crossover : race_crossovers(report))
    crossovers.push_back({crossover.where, crossover.sentence});
  if (!crossovers.empty()) text += "\nWhere curves cross\n" + columns(crossovers);
  return text;
}

struct RaceOptions {
  std::vector<std::string> variants;
  std::vector<std::string> forms;
  std::vector<std::string> devices;
  std::vector<std::string> precisions;
  std::vector<std::string> tokens;
  std::vector<std::string> batches;
  std::vector<std::string> heads;
  std::vector<std::string> dk;
  std::vector<std::string> dv;
  std::vector<std::string> chunks;
  std::string repeats = "11";
  std::string seconds = "2";
  std::string longest = "60";
  bool alone = false;
  bool no_roofs = false;
  std::optional<std::string> json;
  std::optional<std::string> csv;
  std::optional<std::string> picture;
  std::optional<std::string> begun;
  std::string command;  // as it was given
};

void read_counts(const std::vector<std::string>& texts, const char* what, Index most,
                 std::vector<Index>& counts) {
  if (!texts.empty()) counts = parse_counts(texts, what, 1, most);
}

double parse_seconds(const std::string& text, const char* what) {
  const double seconds = parse_number(text, what);
  if (seconds <= 0) throw InputError(fmt::format("{} is \"{}\"; expected seconds above 0", what, text));
  return seconds;
}

RacePlan plan_of(const RaceOptions& options) {
  RacePlan plan;
  plan.variants = options.variants;
  for (const std::string& id : plan.variants) find_variant(id);
  plan.peer = !options.alone;
  plan.forms = parsed(options.forms, plan.forms, parse_form);
  plan.precisions = parsed(options.precisions, plan.precisions, parse_precision);
  read_counts(options.tokens, "--tokens", most_raced_tokens, plan.lengths);
  std::ranges::sort(plan.lengths);
  read_counts(options.batches, "--batch", most_raced_heads, plan.batches);
  read_counts(options.heads, "--heads", most_raced_heads, plan.heads);
  read_counts(options.chunks, "--chunk", most_raced_tokens, plan.chunk_sizes);
  if (!options.dk.empty() || !options.dv.empty()) plan.sizes.clear();
  for (const auto& [dk, dv] : parse_channels(options.dk, options.dv, most_raced_channels))
    plan.sizes.push_back({dk, dv});
  plan.repeats = parse_count(options.repeats, "--repeats", 1, 100'000);
  plan.least_repeats = std::min(plan.least_repeats, plan.repeats);
  plan.seconds = parse_seconds(options.seconds, "--seconds");
  plan.longest = parse_seconds(options.longest, "--longest");
  plan.roofs = !options.no_roofs;
  plan.backends = parsed<const Backend*>(options.devices, usable_backends(),
                                         [](const std::string& text) { return &find_backend(text); });
  return plan;
}

/// A report to go on with: that of --continue, or an empty one of this machine.
RaceReport begun(const RaceOptions& options) {
  const RaceMachine here =
      this_machine(fmt::format("palimpsest {} ({}), {}", version(), commit(), compiler()));
  RaceReport report = {.machine = here};
  if (options.begun) {
    report = read_race(*options.begun);
    try {
      require_same_machine(report.machine, here);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", *options.begun, error.what()));
    }
  }
  report.starts.push_back({present_date(), options.command});
  return report;
}

/// Runs a plan and shows where it is. The report so far goes into `json` now and then: a machine that is lost
/// takes no more with it than the last points.
RaceReport run_plan(const RacePlan& plan, RaceReport begun, const std::optional<std::string>& json,
                    const Console& console, std::stop_token stop) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds moment(30);
  Clock::time_point written = Clock::now();
  ProgressLine line(console);
  line.show("measuring what the machine does at most");
  const auto measured = [&](const RaceProgress& now) {
    const RacePoint& last = now.last;
    line.show(fmt::format("{} of {} points, {}: {}", now.done, now.total, in_words(last.entry),
                          last.measured() ? duration(last.compute.median) : "not measured"));
    if (!json || Clock::now() - written < moment) return;
    written = Clock::now();
    try {
      write_text(*json, race_json(now.report));
    } catch (const InputError&) {
      // No reason to lose what is measured: it is tried again, and the last time it is told.
    }
  };
  return race(plan, std::move(begun), measured, std::move(stop));
}

int run_race(RaceOptions options, const WindowCommands& window, const Console& console) {
  if (options.picture && !window.picture_of_race)
    throw InputError("--picture needs the program with a window (palimpsest)");
  const Interrupt interrupt;  // before a device starts threads of its own, which would take the signal
  const RacePlan plan = plan_of(options);
  RaceReport start = begun(options);
  if (!options.json) options.json = options.begun;
  for (const auto& file : {options.json, options.csv, options.picture}) {
    if (file) writable_target(*file);  // before the work
  }
  const RaceReport report = run_plan(plan, std::move(start), options.json, console, interrupt.token());
  const bool any = std::ranges::any_of(report.points, &RacePoint::measured);
  const bool is_nothing = report.complete() && !any;
  if (!is_nothing)
    console.out << race_text(report)
                << (options.devices.empty() ? unusable_words("cannot be used")
                                            : "");  // also where a file cannot be written
  if (options.json) write_text(*options.json, race_json(report));
  if (options.csv) write_text(*options.csv, race_csv(report));
  if (options.picture) window.picture_of_race(report, *options.picture);
  if (is_nothing)
    throw Unsupported(fmt::format("there is nothing to measure: {}", report.points.front().missing));
  if (report.complete()) return exit_done;
  console.out << fmt::format("Interrupted: {} of the points are left{}.\n", report.left,
                             options.json ? fmt::format("; --continue {} goes on", *options.json) : "");
  throw Cancelled();
}

/// The subcommands that need a window, for a program that has none.
Task without_window(CommandOptions command) {
  for (const char* const name : {"ui", "start"})
    command.subcommand(name, "Needs the program with a window (palimpsest)").allow_extras();
  return []() -> int {
    throw InputError("bench ui and bench start need the program with a window (palimpsest)");
  };
}

}  // namespace

Task add_bench(CommandOptions command, Console console, const WindowCommands& window) {
  const auto options = std::make_shared<RaceOptions>();
  command.option("--variant", options->variants,
                 "Only these variants (default: all), and softmax attention as their peer");
  command.option("--form", options->forms, "Only these forms");
  command.option("--device", options->devices, "Only these devices (default: all that can be used)");
  command.option("--precision", options->precisions, "These precisions (default: f32)");
  command.option("--tokens", options->tokens,
                 "Lengths of the sequence (default: 128,256,512,1024,2048,4096)");
  command.option("--batch", options->batches, "Batches (default: 1)");
  command.option("--heads", options->heads, "Heads of every batch (default: 4)");
  command.option("--dk", options->dk, "Key channels (default: 64)");
  command.option("--dv", options->dv, "Value channels, one for each of --dk (default: as many as there)");
  command.option("--chunk", options->chunks, "Tokens of a chunk, of forms that have chunks (default: 64)");
  command.option("--repeats", options->repeats, "Runs of a point that count, at most");
  command.option("--seconds", options->seconds,
                 "Repeat a point no further after so long; three times in any case");
  command.option("--longest", options->longest,
                 "Leave out what would take more seconds a run, by a shorter length of the same");
  command.flag("--alone", options->alone, "Without the peer");
  command.flag("--no-roof", options->no_roofs, "Do not measure what the machine does at most");
  command.option("--json", options->json, "Write the report to this file as well");
  command.option("--csv", options->csv, "Write its points to this file as well");
  command.option("--picture", options->picture, "Draw it as a picture (PNG), as Measure shows it");
  command.option("--continue", options->begun,
                 "Go on with this report of the same machine and program: what it holds is not measured "
                 "again; without --json it is written there");
  const Task of_window = window.bench ? window.bench(command, console) : without_window(command);
  return [options, console, of_window, window, command]() -> int {
    if (command.gave_subcommand()) return of_window();
    options->command = "palimpsest " + command.as_given();
    return run_race(*options, window, console);
  };
}

}  // namespace palimpsest
