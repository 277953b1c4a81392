#include "app/commands/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/commands/columns.h"
#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/devices.h"
#include "core/variants/variants.h"
#include "kernels/device.h"

namespace palimpsest {

Task add_info(CommandOptions command, Console console) {
  struct Options {
    std::optional<std::string> variant;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  command.option("VARIANT", options->variant, "Tell everything about this variant");
  command.flag("--json", options->json, "Write JSON for programs");
  return [options, console]() -> int {
    if (!options->variant) {
      console.out << (options->json ? overview_json() : overview_text());
    } else {
      const Variant& variant = find_variant(*options->variant);
      console.out << (options->json ? variant_json(variant) : variant_text(variant));
    }
    return exit_done;
  };
}

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The devices that run a form with the default options: "cpu", "cpu, cuda f32", "none".
std::string where_it_runs(const Variant& variant, Form form) {
  std::vector<std::string> devices;
  const Settings settings = resolve(variant, {});
  for (const Backend* backend : backends()) {
    std::vector<std::string> precisions;
    for (const Precision precision : precisions_of(*backend)) {
      if (!backend->missing(variant, settings, form, precision)) precisions.emplace_back(name(precision));
    }
    if (precisions.empty()) continue;
    const bool all = precisions.size() == precisions_of(*backend).size();
    devices.push_back(all ? backend->name()
                          : fmt::format("{} {}", backend->name(), fmt::join(precisions, " ")));
  }
  return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
}

/// One line for every reason on every device, with all that it concerns.
class Reasons {
 public:
  void add(const Variant& variant) {
    for (const Backend* backend : backends()) {
      if (!unavailable(*backend).empty()) continue;  // said once, where the devices are listed
      for (const Form form : all_forms) add(*backend, variant, form);
    }
  }

  bool empty() const { return concerned_.empty(); }

  Rows rows() const {
    Rows rows;
    for (const auto& [device, reason] : order_)
      rows.push_back({device, fmt::format("{}: {}", concerned({device, reason}), reason)});
    return rows;
  }

 private:
  using Key = std::pair<std::string, std::string>;

  /// What a reason concerns in words; many rules that lack the same are counted.
  std::string concerned(const Key& key) const {
    constexpr std::size_t most_named = 8;
    std::vector<std::string> words;
    for (const auto& [what, ids] : concerned_.at(key)) {
      if (ids.size() > most_named) {
        words.push_back(fmt::format("{} rules {}", ids.size(), what));
      } else {
        for (const std::string& id : ids) words.push_back(fmt::format("{} {}", id, what));
      }
    }
    return fmt::format("{}", fmt::join(words, ", "));
  }

  void add(const Backend& backend, const Variant& variant, Form form) {
    std::vector<std::optional<Gap>> gaps;
    const std::vector<Precision> precisions = precisions_of(backend);
    for (const Precision precision : precisions) gaps.push_back(gap(backend, variant, form, precision));
    const bool same = std::ranges::all_of(gaps, [&](const auto& other) { return other == gaps.front(); });
    for (std::size_t i = 0; i < (same ? 1 : gaps.size()); ++i) {
      if (!gaps[i]) continue;
      std::string what = name(form);
      if (!same) what += fmt::format(" {}", name(precisions[i]));
      if (gaps[i]->when != "always") what += fmt::format(" (if {})", gaps[i]->when);
      const Key key{backend.name(), gaps[i]->reason};
      if (!concerned_.contains(key)) order_.push_back(key);
      auto& all = concerned_[key];
      auto place = std::ranges::find(all, what, [](const auto& each) { return each.first; });
      if (place == all.end()) place = all.insert(all.end(), {what, {}});
      place->second.push_back(variant.id);
    }
  }

  std::vector<Key> order_;
  /// "two-pass", "chunkwise tf32 (if causal=false)": the rules that lack it.
  std::map<Key, std::vector<std::pair<std::string, std::vector<std::string>>>> concerned_;
};

std::string default_text(const Parameter& parameter) {
  if (parameter.standard) return fmt::format("{:g}", *parameter.standard);
  return parameter.standard_words.empty() ? "required" : parameter.standard_words;
}

std::string heading(const char* words) { return fmt::format("\n{}\n", words); }

}  // namespace

std::string range_text(const Parameter& parameter) {
  constexpr double endless = 1e300;
  const bool below = parameter.minimum > -endless;
  const bool above = parameter.maximum < endless;
  if (below && above) return fmt::format("[{:g}, {:g}]", parameter.minimum, parameter.maximum);
  if (below) return fmt::format(">= {:g}", parameter.minimum);
  return above ? fmt::format("<= {:g}", parameter.maximum) : "finite";
}

std::string overview_text(std::span<const Variant> table) {
  const std::string cuda = cuda_runtime_version();
  std::string text = fmt::format("Palimpsest {}\n{}, Eigen {}, {}\n", version(), compiler(), eigen_version(),
                                 cuda.empty() ? "built without CUDA" : "CUDA " + cuda);

  Rows devices;
  for (const Backend* backend : backends()) {
    std::string words = describe(*backend);
    if (unavailable(*backend).empty()) {
      std::vector<std::string_view> precisions;
      for (const Precision precision : precisions_of(*backend)) precisions.emplace_back(name(precision));
      words += fmt::format("; {}", fmt::join(precisions, ", "));
    }
    devices.push_back({backend->name(), words});
  }
  text += heading("Devices") + columns(devices);

  Rows rows = {{"", ""}};
  for (const Form form : all_forms) rows.front().push_back(name(form));
  Reasons reasons;
  for (const Variant& variant : table) {
    rows.push_back({variant.id, variant.label});
    for (const Form form : all_forms) rows.back().push_back(where_it_runs(variant, form));
    reasons.add(variant);
  }
  text += heading("Variants, and the devices that run their forms") + columns(rows);
  if (!reasons.empty()) text += heading("What is missing, and why") + columns(reasons.rows());
  return text + "\npalimpsest info VARIANT tells everything about one.\n";
}

std::string variant_text(const Variant& variant) {
  std::string text = fmt::format("{}: {}\n", variant.id, variant.label);
  text += paragraph(variant.words) + paragraph("Paper: " + variant.paper);

  Rows arrays;
  for (const Input& input : all_inputs(variant)) {
    const bool is_decay = input.range == Range::decay;
    arrays.push_back(
        {is_decay ? input.name + " or g" : input.name, fmt::format("[{}]", fmt::join(input.shape, ", ")),
         is_decay ? "[0, 1]; g = log alpha: [-inf, 0]" : describe(input.range),
         input.meaning + (input.when.options.empty() ? "" : fmt::format("; with {}", describe(input.when))) +
             (input.absent ? fmt::format(" (if absent: {})", *input.absent) : "")});
  }
  text += heading("Arrays of one head") + columns(arrays);
  text += paragraph(
      "With heads H and batches B, arrays with n tokens are [B, n, H, ...], the others [B, H, ...].", 2);

  Rows parameters;
  for (const Parameter& parameter : all_parameters(variant)) {
    parameters.push_back({parameter.name, range_text(parameter),
                          fmt::format("{} (default: {}){}", parameter.meaning, default_text(parameter),
                                      parameter.per_head ? "; may be an array [H] of the input" : "")});
  }
  text += heading("Parameters (--param NAME=VALUE)") + columns(parameters);

  Rows options;
  for (const Option& option : variant.options) {
    options.push_back({option.name,
                       fmt::format("{} (default: {})", fmt::join(option.values, ", "),
                                   option.follows.empty() ? option.values.front() : option.follows),
                       option.meaning});
  }
  if (!options.empty()) text += heading("Options (--param NAME=VALUE)") + columns(options);

  Rows states;
  for (const StateSet& set : state_sets(variant)) {
    for (const StateArray& array : state_arrays(variant, set)) {
      states.push_back({array.state, fmt::format("[{}]", fmt::join(array.shape, ", ")),
                        fmt::format("from {} to {}", array.initial, array.final)});
      if (!set.when.empty()) states.back().push_back("with " + set.when);
    }
  }
  text += heading("States, and their names before and after") + columns(states);

  Rows forms;
  for (const Form form : all_forms) forms.push_back({name(form), where_it_runs(variant, form)});
  text += heading("Forms, and the devices that run them") + columns(forms);
  Reasons reasons;
  reasons.add(variant);
  if (!reasons.empty()) text += heading("What is missing, and why") + columns(reasons.rows());

  for (const Form form : all_forms) {
    Rows steps;
    for (const Formula& formula : formulas(variant, form)) steps.push_back({formula.title, formula.text});
    if (!steps.empty()) text += fmt::format("\nSteps of the {} form\n", name(form)) + columns(steps);
  }
  return text + heading("What it learns") + paragraph(variant.loss.words, 2);
}

}  // namespace palimpsest
