#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/devices.h"
#include "app/session/inputs.h"
#include "app/session/presets.h"
#include "core/base/parallel_for.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

int list_faults(const Console& console) {
  for (const Fault& fault : faults())
    console.out << fmt::format("{:<27} {}\n{:<27} {}\n", fault.id, fault.label, "", fault.sentence);
  return exit_done;
}

/// The devices that are asked for. Throws Unsupported for one that was named and cannot be used here.
std::vector<const Backend*> devices(const CommandOptions& options) {
  return parsed<const Backend*>(options.all("--device"), usable_backends(), [](const std::string& text) {
    return &usable_backend(text, fastest_backends());
  });
}

/// The random case of --case, or why `variant` has no such case with these settings.
RandomCase possible_case(const std::string& text, const Variant& variant, const Settings& settings) {
  const RandomCase random = parse_random_case(text);
  if (random.log_gates && !has_gates(variant))
    refuse("\"{}\": {} takes no decay, so none can be given as its logarithm g", text, variant.id);
  const RandomCase fitting = fitted(variant, settings, random);
  const bool names_sizes = text.find("K=") != std::string::npos || text.find("V=") != std::string::npos;
  if (names_sizes && fitting != random)
    refuse("\"{}\": {} with {} needs as many value channels as key channels, 6 or more", text, variant.id,
           describe_options(settings));
  return fitting;
}

VerifyCase one_case(const CommandOptions& options) {
  if (options.all("--variant").size() != 1) refuse("--case needs --variant, once: whose case it is");
  const Variant& variant = find_variant(variant_id(options.all("--variant").front()));
  const Settings settings = parse_settings(variant, options.all("--param"));
  const Settings given = resolve(variant, settings);
  const Index chunk_size = parse_count(options["--chunk"], "--chunk", 1);
  if (!options["--case"].starts_with("random:")) {
    auto data = std::make_shared<const DataSet>(open_data(options["--case"]));
    return data_case(variant, std::move(data), settings, chunk_size);
  }
  const RandomCase random = possible_case(options["--case"], variant, given);
  return {&variant, random_settings(variant, given, random.seed), random, {chunk_size}};
}

/// `plan` with what the command line changes in it.
VerifyPlan changed(VerifyPlan plan, const CommandOptions& options) {
  constexpr Index most_cases = 100'000'000;
  constexpr Index most_jobs = 1024;
  choose_what(plan, options);
  plan.seed = static_cast<std::uint64_t>(parse_count(options["--seed"], "--seed"));
  plan.jobs = !options.gave("--jobs")
                  ? processor_threads()
                  : static_cast<unsigned>(parse_count(options["--jobs"], "--jobs", 1, most_jobs));
  if (options.gave("--cases")) plan.random_cases = parse_count(options["--cases"], "--cases", 1, most_cases);
  if (options.gave("--case")) {
    if (plan.random_cases > 0) refuse("--case is one case; --cases draws others: give one of them");
    plan.cases = {one_case(options)};
  } else if (!options.all("--param").empty()) {
    refuse("--param belongs to --case; without it every choice of options is checked");
  }
  return plan;
}

/// The fixed plan, with the lengths and sizes that are asked for instead of its own.
VerifyPlan fixed_plan(const CommandOptions& options) {
  constexpr Index most_tokens = 1 << 20;
  constexpr Index most_channels = 8192;
  VerifyPlan plan =
      options.all("--tokens").empty()
          ? thorough_plan()
          : plan_of_lengths(parse_counts(each_once(options.all("--tokens")), "--tokens", 0, most_tokens));
  if (choose_sizes(plan, options, most_channels)) plan.wide_sizes.clear();
  return plan;
}

std::vector<VerifyCase> cases_of_presets(const VerifyPlan& plan) {
  std::vector<VerifyCase> cases = preset_cases(variants());
  std::erase_if(cases, [&](const VerifyCase& each) {
    return !plan.variants.empty() && !is_among(each.variant->id, plan.variants);
  });
  return cases;
}

/// Writes a report. Throws Cancelled where it covers a part of the plan only.
template <class Report>
void write_report(const Report& report, const std::string& unchecked, const CommandOptions& options,
                  const Console& console) {
  console.out << to_table(report) << unchecked;
  if (!report.complete())
    console.out << fmt::format("Interrupted: the report covers {} of {} cases.\n", report.cases,
                               report.planned);
  if (options.gave("--json")) write_text(options["--json"], to_json(report));
  if (!report.complete()) throw Cancelled();
}

/// `palimpsest verify --fault NAME ...`: the forms of the plan with its faults ("all": every one) in their
/// equations. The status is that of a verification: failed checks if every faulty form fails, as it should,
/// done if one stays unnoticed or there is none.
int run_verify_faults(const CommandOptions& options, const Console& console) {
  FaultPlan plan{.faults = each_once(options.all("--fault"))};
  plan.cases = changed(std::move(plan.cases), options);
  if (!options.all("--device").empty()) plan.cases.backends = devices(options);
  const bool all = std::erase(plan.faults, "all") > 0;
  for (const std::string& id : plan.faults) find_fault(id);
  if (all) plan.faults.clear();
  if (options.gave("--json")) writable_target(options["--json"]);  // first: before the work
  const FaultReport report = [&] {
    const Interrupt interrupt;
    ProgressLine line(console);
    const auto show = [&](const FaultProgress& now) {
      line.show(now.done, now.total, fmt::format("{} faults detected, {}", now.noticed, now.variant));
    };
    return verify_faults(plan, show, interrupt.token());
  }();
  write_report(report, {}, options, console);
  const bool all_fail = report.noticed() == static_cast<Index>(report.results.size());
  return all_fail && !report.results.empty() ? exit_failed_checks : exit_done;
}

/// " f64 1.2e-15, f32 1.9e-06": of the precisions that were run.
std::string worst_words(const VerifyProgress& now) {
  std::string words;
  for (const Precision precision : all_precisions) {
    const double worst = entry(now.worst, precision);
    if (worst > 0) words += fmt::format("{} {} {:.1e}", words.empty() ? "" : ",", name(precision), worst);
  }
  return words.empty() ? " 0" : words;
}

int run_verify(const CommandOptions& options, const Console& console) {
  VerifyPlan plan = changed(fixed_plan(options), options);
  const Interrupt interrupt;  // before a device starts threads of its own, which would take the signal
  const auto is_named = [&](const char* sizes) { return !options.all(sizes).empty(); };
  const bool names_sizes = is_named("--tokens") || is_named("--dk") || is_named("--dv");
  if (plan.cases.empty() && plan.random_cases == 0 && !names_sizes) plan.more = cases_of_presets(plan);
  plan.backends = devices(options);
  // First: a place that cannot be written is not worth minutes of work.
  if (options.gave("--json")) writable_target(options["--json"]);

  VerifyReport report = [&] {
    ProgressLine line(console);
    const auto show = [&](const VerifyProgress& now) {
      line.show(
          now.done, now.total,
          fmt::format("largest difference{}, {} failed, {}", worst_words(now), now.failed, now.variant));
    };
    return verify(plan, variants(), show, interrupt.token());
  }();
  report.date = present_date();
  if (report.complete() && report.runs() == 0 && !report.missing.empty()) {
    const std::string reason =
        plan.random_cases > 0 ? "no random case has such a form" : report.missing.front().reason;
    throw Unsupported(fmt::format("there is nothing to check: {}", reason));
  }
  write_report(report, options.all("--device").empty() ? unusable_words("was not checked") : "", options,
               console);
  return report.passed() ? exit_done : exit_failed_checks;
}

}  // namespace

Task add_verify(CommandOptions command, Console console) {
  command.list("--variant", "Only these variants (default: all)");
  command.list("--form", "Only these forms");
  command.list("--device", "Only these devices (default: all that can be used)");
  command.list("--precision", "Only these precisions (default: all that the device has)");
  command.list("--tokens",
               "Only these lengths; above 300 tokens in chunks of 64 and the first size, above 4096 each "
               "choice of options once");
  command.list("--dk",
               "Key channels of every case (default: 12,5, and where a GPU computes a few with 70,20)");
  command.list("--dv", "Value channels, one for each of --dk (default: as many as there)");
  command.option("--cases",
                 "This many random cases instead of the fixed plan. Each has a random variant with its "
                 "options and gates, T up to 300 and sometimes 4096, K and V up to 24");
  command.option("--seed", "Seed of the random numbers; they are the same on every machine", "1");
  command.option("--jobs", "Threads (default: one per core); they change no result");
  command.option("--json", "Also write the report to this file");
  command.list(
      "--fault",
      "Inject this fault, or \"all\", into every form. Verification must fail (exit status 1) and shows "
      "where. Status 0 means that a fault was not detected, or applies to no form. Without --case or "
      "--cases it uses a few cases that show each fault, in f64 on the cpu");
  command.flag("--faults", "List the faults that --fault can inject");
  command.option("--case",
                 "Only this case, as a report names it: random:T=17,..., or the first head of "
                 "preset:NAME, capture:NAME or a file");
  command.option("--chunk", "With --case: tokens per chunk, where the form has chunks", "64",
                 {.needs = "--case"});
  command.list("--param", "With --case: NAME=VALUE, an option or a parameter of the variant",
               {.repeated = true});
  for (const char* const sizes : {"--tokens", "--dk", "--dv"}) {
    for (const char* const other : {"--cases", "--case", "--fault"}) command.exclude(sizes, other);
  }
  return [command, console] {
    if (command.is_set("--faults")) return list_faults(console);
    return command.all("--fault").empty() ? run_verify(command, console)
                                          : run_verify_faults(command, console);
  };
}

}  // namespace palimpsest
