#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/races.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

std::string form_text(const RaceEntry& entry) {
  if (entry.chunk_size == 0) return name(entry.form);
  return fmt::format("{} {}", name(entry.form), entry.chunk_size);
}

/// "gated_deltanet chunkwise cpu f32".
std::string in_words(const RaceEntry& entry) {
  return fmt::format("{} {} {} {}", entry.variant, form_text(entry), entry.device, name(entry.precision));
}

/// The measured points of a shape, a row for each curve.
std::string times_text(const RaceReport& report, const RaceShape& shape) {
  std::set<Index> lengths;
  // What each is of, with tokens 0, and its points by their tokens.
  std::vector<std::pair<RaceEntry, std::map<Index, const RacePoint*>>> curves;
  bool transfers = false;
  for (const RacePoint& point : report.points) {
    if (!point.measured() || shape_of(point.entry) != shape) continue;
    RaceEntry entry = point.entry;
    entry.tokens = 0;
    value_of(curves, entry).emplace(point.entry.tokens, &point);
    lengths.insert(point.entry.tokens);
    transfers = transfers || point.transfers.median > 0;
  }
  TextRows rows = {{"variant", "form", "device", ""}};
  for (const Index tokens : lengths) rows.front().push_back(fmt::format("T {}", tokens));
  for (const char* title : {"middle half", "GFLOP/s", "roof"}) rows.front().emplace_back(title);
  if (transfers) rows.front().insert(rows.front().end() - 2, "with transfers");
  for (const auto& [entry, points] : curves) {
    rows.push_back({entry.variant, form_text(entry), entry.device, name(entry.precision)});
    for (const Index tokens : lengths) {
      const RacePoint* const* const point = value_at(points, tokens);
      rows.back().push_back(point ? duration((*point)->compute.median) : "-");
    }
    const RacePoint* const longest = points.rbegin()->second;
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
  std::vector<std::pair<std::string, std::vector<std::string>>> concerned;
  for (const RacePoint& point : report.points) {
    if (!point.measured()) value_of(concerned, point.missing).push_back(in_words(point.entry));
  }
  TextRows rows;
  for (const auto& [reason, all] : concerned)
    rows.push_back({fmt::format("{}: {}", fmt::join(each_once(all), ", "), reason)});
  return rows;
}

std::string race_text(const RaceReport& report) {
  const RaceMachine& machine = report.machine;
  std::string text = fmt::format("{}\n{}, {}\n", machine.program, machine.processor,
                                 counted(machine.threads, "thread", "threads"));
  if (!machine.gpu.empty())
    text += fmt::format("{}, driver for CUDA {}, clocks {}\n", machine.gpu, machine.driver, machine.clocks);
  for (const RaceShape& shape : race_shapes(report))
    text +=
        fmt::format(
            "\nB {}, H {}, K {}, V {}: median computing time; from \"middle half\" on for the longest T\n",
            shape.batches, shape.heads, shape.dk, shape.dv) +
        times_text(report, shape);
  if (const TextRows rows = missing_rows(report); !rows.empty())
    text += "\nNot measured, and why\n" + columns(rows);
  TextRows notes;
  for (const RaceTiming& timing : report.timing) notes.push_back({timing.device, timing.words});
  for (const RaceRoof& roof : report.roofs)
    notes.push_back(
        {fmt::format("{} {}", roof.device, name(roof.precision)),
         fmt::format("roof: {:.3g} GB/s ({}), {:.4g} GFLOP/s ({})", roof.roof.bytes_per_second / 1e9,
                     roof.roof.copy, roof.roof.flops_per_second / 1e9, roof.roof.product)});
  if (!notes.empty()) text += "\nWhat is timed, and the limits of the machine\n" + columns(notes);
  TextRows crossovers;
  for (const RaceCrossover& crossover : race_crossovers(report))
    crossovers.push_back({crossover.where, crossover.sentence});
  if (!crossovers.empty()) text += "\nWhere curves cross\n" + columns(crossovers);
  return text;
}

double parse_seconds(const CommandOptions& options, const char* name) {
  const double seconds = parse_number(options[name], name);
  if (seconds <= 0) refuse("{} is \"{}\"; expected seconds above 0", name, options[name]);
  return seconds;
}

RacePlan plan_of(const CommandOptions& options) {
  RacePlan plan;
  const auto read_counts = [&](const char* name, Index most, std::vector<Index>& counts) {
    if (!options.all(name).empty()) counts = parse_counts(options.all(name), name, 1, most);
  };
  choose_what(plan, options);
  plan.peer = !options.is_set("--alone");
  read_counts("--tokens", most_raced_tokens, plan.lengths);
  std::ranges::sort(plan.lengths);
  read_counts("--batch", most_raced_heads, plan.batches);
  read_counts("--heads", most_raced_heads, plan.heads);
  read_counts("--chunk", most_raced_tokens, plan.chunk_sizes);
  choose_sizes(plan, options, most_raced_channels);
  plan.repeats = parse_count(options["--repeats"], "--repeats", 1, 100'000);
  plan.least_repeats = std::min(plan.least_repeats, plan.repeats);
  plan.seconds = parse_seconds(options, "--seconds");
  plan.longest = parse_seconds(options, "--longest");
  plan.roofs = !options.is_set("--no-roof");
  plan.backends =
      parsed<const Backend*>(options.all("--device"), usable_backends(),
                             [](const std::string& text) { return &find_backend(text, fastest_backends()); });
  return plan;
}

/// A report to go on with: that of --continue, or an empty one of this machine.
RaceReport begun(const CommandOptions& options) {
  const RaceMachine here = this_machine(program_in_words());
  RaceReport report = {.machine = here};
  if (options.gave("--continue")) {
    const std::string& file = options["--continue"];
    report = read_race(file);
    naming_input(file, [&] { require_same_machine(report.machine, here); });
  }
  report.starts.push_back({present_date(), "palimpsest " + options.as_given()});
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
  line.show("measuring the limits of the machine");
  const auto measured = [&](const RaceProgress& now) {
    const RacePoint& last = now.last;
    line.show(fmt::format("{} of {} points, {}, T = {}: {}", now.done, now.total, in_words(last.entry),
                          last.entry.tokens,
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

int run_race(const CommandOptions& options, const WindowCommands& window, const Console& console) {
  const std::optional<std::string> picture = options.if_given("--picture");
  const std::optional<std::string> csv = options.if_given("--csv");
  const std::optional<std::string> json = options.if_given(options.gave("--json") ? "--json" : "--continue");
  if (picture && !window.picture_of_race) refuse("--picture needs the program with a window (palimpsest)");
  const Interrupt interrupt;  // before a device starts threads of its own, which would take the signal
  const RacePlan plan = plan_of(options);
  RaceReport start = begun(options);
  for (const auto& file : {json, csv, picture}) {
    if (file) writable_target(*file);  // before the work
  }
  const RaceReport report = run_plan(plan, std::move(start), json, console, interrupt.token());
  const bool any = std::ranges::any_of(report.points, &RacePoint::measured);
  const bool is_nothing = report.complete() && !any;
  if (!is_nothing)
    console.out << race_text(report)
                << (options.all("--device").empty() ? unusable_words("cannot be used")
                                                    : "");  // also where a file cannot be written
  if (json) write_text(*json, race_json(report));
  if (csv) write_text(*csv, race_csv(report));
  if (picture) window.picture_of_race(report, *picture);
  if (is_nothing)
    throw Unsupported(fmt::format("there is nothing to measure: {}", report.points.front().missing));
  if (report.complete()) return exit_done;
  console.out << fmt::format("Interrupted: {} left{}.\n", counted(report.left, "point is", "points are"),
                             json ? fmt::format("; continue with --continue {}", *json) : "");
  throw Cancelled();
}

Task without_window(CommandOptions command) {
  for (const char* const name : {"ui", "start"})
    command.subcommand(name, "Needs the program with a window (palimpsest)").allow_extras();
  return failing("bench ui and bench start need the program with a window (palimpsest)");
}

}  // namespace

Task add_bench(CommandOptions command, Console console, const WindowCommands& window) {
  command.list("--variant", "Only these variants (default: all), and softmax attention as their peer");
  command.list("--form", "Only these forms");
  command.list("--device", "Only these devices (default: all that can be used)");
  command.list("--precision", "These precisions (default: f32)");
  command.list("--tokens", "Lengths of the sequence (default: 128,256,512,1024,2048,4096)");
  command.list("--batch", "Batches (default: 1)");
  command.list("--heads", "Heads of every batch (default: 4)");
  command.list("--dk", "Key channels (default: 64)");
  command.list("--dv", "Value channels, one for each of --dk (default: as many as there)");
  command.list("--chunk", "Tokens per chunk, where the form has chunks (default: 64)");
  command.option("--repeats", "Largest number of timed runs of a point", "11");
  command.option("--seconds", "Stop repeating a point after this time; at least three runs", "2");
  command.option("--longest",
                 "Skip points that would take more seconds per run, estimated from a shorter length", "60");
  command.flag("--alone", "Without softmax attention");
  command.flag("--no-roof", "Do not measure the limits of the machine");
  command.option("--json", "Also write the report to this file");
  command.option("--csv", "Also write its points to this file");
  command.option("--picture", "Draw it as Measure does (PNG)");
  command.option("--continue",
                 "Continue this report of the same machine and program: its points are not measured again; "
                 "without --json the report is written there");
  const Task of_window = window.bench ? window.bench(command, console) : without_window(command);
  return [command, console, of_window, window]() -> int {
    return command.gave_subcommand() ? of_window() : run_race(command, window, console);
  };
}

}  // namespace palimpsest
