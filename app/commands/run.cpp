#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/console.h"
#include "app/commands/options.h"
#include "app/commands/run_batch.h"
#include "app/commands/values.h"
#include "app/session/devices.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/base/text.h"
#include "core/cases/random_case.h"
#include "core/contract/variant.h"
#include "core/io/array_file.h"
#include "core/io/file.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

struct RunOptions {
  std::string variant;
  std::string form = "recurrent";
  std::string device = "cpu";
  std::string precision = "f64";
  std::string chunk = "64";
  std::string input;
  std::string output;
  std::vector<std::string> settings;
  bool only_ask = false;
};

const Backend& backend_of(const RunOptions& options) {
  const Backend& backend = find_backend(options.device);
  if (!options.only_ask) return backend;
  if (&backend != &cpu_backend()) throw Unsupported("--ask is computed on the cpu alone");
  return asking_backend();
}

/// The arrays of a file, or of a random case.
Npz read_input(const std::string& input, const Variant& variant, const Settings& given) {
  if (!input.starts_with("random:")) {
    const std::vector<std::string> names = array_names(variant);
    const auto is_wanted = [&](std::string_view name) {
      return name == "o" || std::ranges::find(names, name) != names.end();
    };
    Npz npz = read_array_file(input, {}, is_wanted);
    for (const std::string& name : names) require_readable(npz.unreadable, name);
    require_array(input, "q", npz.arrays, npz.unread);  // the first that every variant takes
    return npz;
  }
  return {.arrays = random_arrays(variant, resolve(variant, given), parse_random_case(input))};
}

/// One line that names what the variant does not know, whether it can be read or not.
void tell_ignored(const Console& console, const RunOptions& options, std::vector<std::string> names,
                  const Texts& texts, const Unreadable& unreadable) {
  constexpr std::size_t most = 10;
  for (const auto& [name, text] : texts) names.push_back(name);
  for (const auto& [name, problem] : unreadable) names.push_back(name);
  if (names.empty()) return;
  std::ranges::sort(names);
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  for (std::string& name : names) name = shown(name);
  tell(console, fmt::format("{}: {} does not know and ignores: {}{}", options.input, options.variant,
                            fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

/// One line where the outputs are those of another kernel than the one whose steps a trace shows.
void tell_fused(const Console& console, const Variant& variant, const Sequence& head, Form form,
                Precision precision, const Backend& backend) {
  const std::string words = fused_kernel(backend, variant, head, form, precision);
  if (!words.empty()) tell(console, words);
}

/// Throws InputError where nothing has been written that could answer.
void require_initial_state(const Variant& variant, const Sequence& head) {
  std::vector<std::string> names;
  for (const std::string& state : states_of(variant, head.settings))
    names.push_back(initial_name(variant, head.settings, state));
  const bool given = std::ranges::any_of(names, [&](const std::string& name) { return head.has(name); });
  if (given || names.empty()) return;
  throw InputError(fmt::format(
      "--ask: {} is missing, so that nothing answers; it is what a run over the block of keys wrote as {}",
      fmt::join(names, ", "), final_name(names.size(), states_of(variant, head.settings).front())));
}

/// Runs a batch and shows how far it is: the heads that are done where the device tells, and the seconds.
Arrays run_shown(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size, const Console& console, std::stop_token stop) {
  std::atomic<Index> done = 0;
  const WaitingLine line(console, [&] { return describe_progress(batch, backend.name(), done); });
  return run_heads(backend, variant, batch, form, precision, chunk_size, std::move(stop), [&] { ++done; });
}

/// What `make` makes; where something is wrong with the input, the words name it.
template <class Make>
auto about_input(const RunOptions& options, Make make) {
  try {
    return make();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", options.input, error.what()));
  }
}

int run(const RunOptions& options, const Console& console) {
  const Variant& variant = find_variant(options.variant);
  const Form form = parse_form(options.form);
  const Backend& backend = backend_of(options);
  const Precision precision = parse_precision(options.precision);
  const Index chunk_size = parse_count(options.chunk, "--chunk");
  require_chunk_size(chunk_size);
  const Settings given = parse_settings(variant, options.settings);
  usable_backend(backend.name());
  if (const auto reason = backend.missing(variant, resolve(variant, given), form, precision)) {
    throw Unsupported(fmt::format("{} has no {} form in {} on {} with these settings: {}", variant.id,
                                  name(form), name(precision), backend.name(), *reason));
  }

  if (is_same_file(options.input, options.output))
    throw InputError(
        fmt::format("{}: is the input, which would be lost; give another --output", options.output));
  const Interrupt interrupt;
  Npz npz = read_input(options.input, variant, given);
  const auto arrays = std::make_shared<const Arrays>(std::move(npz.arrays));
  const SequenceBatch batch = about_input(options, [&] {
    SequenceBatch bound = bind(variant, arrays, given);
    if (precision != Precision::f64) require_fits_f32(variant, *arrays, bound);
    if (options.only_ask && !bound.heads.empty()) require_initial_state(variant, bound.heads.front());
    return bound;
  });
  std::vector<std::string> ignored = batch.ignored;
  if (!options.only_ask) std::erase(ignored, "o");  // it is compared
  ignored.insert(ignored.end(), npz.unread.begin(), npz.unread.end());
  tell_ignored(console, options, ignored, npz.texts, npz.unreadable);
  writable_target(options.output);  // before the work is done
  const Arrays results = about_input(options, [&] {
    return run_shown(backend, variant, batch, form, precision, chunk_size, console, interrupt.token());
  });
  if (!batch.heads.empty()) tell_fused(console, variant, batch.heads.front(), form, precision, backend);
  std::string summary = describe_batch(batch) + (options.only_ask ? "" : describe_states(batch));
  if (arrays->contains("o") && !options.only_ask)
    summary += "; " + compare_with_given(results.at("o"), arrays->at("o"));
  for (const std::string& line : not_finite(variant, batch, results, precision))
    tell(console, fmt::format("{}: {}", options.input, line));
  stop_if_asked(interrupt.token());
  write_npz(options.output, results);
  console.out << fmt::format("{}: {} {} in {} on {}: {}\n", one_line(options.output), variant.id, name(form),
                             name(precision), backend.name(), summary);
  return exit_done;
}

}  // namespace

Task add_run(CommandOptions command, Console console) {
  const auto options = std::make_shared<RunOptions>();
  command.option("VARIANT", options->variant, "Id of the variant; palimpsest info lists them").required();
  command.option("--form", options->form, form_names());
  command.option("--device", options->device, "cpu or cuda");
  command.option("--precision", options->precision, "f64, f32; tf32, bf16 on a device that has them");
  command.option("--chunk", options->chunk, "Tokens per chunk, where the form has chunks; changes no result");
  command
      .option("--input", options->input,
              "The file with q, k, v and what else the variant takes: .npz, .safetensors, .csv, or one of "
              "the .npy files of a folder")
      .required();
  command.option("--output", options->output, "The .npz to write: o and the final states").required();
  command.option("--param", options->settings, "NAME=VALUE: an option or a parameter of the variant")
      .may_be_repeated();
  command.flag("--ask", options->only_ask,
               "The tokens of the input only ask: their q and gates count, their k, v and beta do not; the "
               "initial state answers as the gates let it fade. For queries that come wholly after a "
               "block of keys, whose final state it is. On the cpu, for rules of one linear memory");
  return [options, console] { return run(*options, console); };
}

}  // namespace palimpsest
