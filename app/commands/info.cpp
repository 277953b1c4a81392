#include "app/commands/info.h"

#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/devices.h"
#include "app/session/json_fields.h"
#include "core/proof/verify.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

using Chosen = std::vector<std::pair<std::string, std::string>>;  // some options and their values

bool is_part(const Chosen& part, const Chosen& whole) {
  return std::ranges::all_of(part, [&](const auto& entry) { return is_among(entry, whole); });
}

/// Every choice of `size` of the options in `whole`.
std::vector<Chosen> parts(const Chosen& whole, std::size_t size, std::size_t first = 0) {
  if (size == 0) return {{}};
  std::vector<Chosen> found;
  for (std::size_t i = first; i < whole.size(); ++i) {
    for (Chosen part : parts(whole, size - 1, i + 1)) {
      part.insert(part.begin(), whole[i]);
      found.push_back(std::move(part));
    }
  }
  return found;
}

/// The shortest choices of which every completion is absent, and none contains another.
std::vector<std::string> conditions(const Variant& variant, const std::vector<Chosen>& present,
                                    const std::vector<Chosen>& absent) {
  std::vector<Chosen> known;
  std::vector<std::string> words;
  for (std::size_t size = 1; size <= variant.options.size(); ++size) {
    for (const Chosen& whole : absent) {
      for (const Chosen& part : parts(whole, size)) {
        const auto is_in_part = [&](const Chosen& other) { return is_part(other, part); };
        const auto has_part = [&](const Chosen& other) { return is_part(part, other); };
        if (std::ranges::any_of(known, is_in_part) || std::ranges::any_of(present, has_part)) continue;
        known.push_back(part);
        std::vector<std::string> equations;
        for (const auto& [name, value] : part) equations.push_back(name + " = " + value);
        words.push_back(fmt::format("{}", fmt::join(equations, " with ")));
      }
    }
  }
  return words;
}

/// One token of random arrays, with or without those that are optional, a scale and the default options.
Sequence smallest_sequence(const Variant& variant, bool with_optional) {
  const Settings settings = random_settings(variant, {.parameters = {{"scale", 0.5}}}, 1);
  const RandomCase smallest{.tokens = 1, .dk = 2, .dv = 2, .initial_state = with_optional};
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, smallest));
  return palimpsest::bind(variant, arrays, settings).heads.front();
}

/// Calls `told(operation, LaTeX)` for the steps of one form with the default options, in order; for none if
/// the form does not exist.
template <class Told>
void for_each_formula(const Variant& variant, Form form, Told told) {
  // Steps are known from the variant alone, but a trace is always one of a sequence: the smallest will do.
  // What is optional counts: what it does stands in the formulas.
  const Sequence sequence = smallest_sequence(variant, true);
  if (variant.rule->missing(form, sequence.settings)) return;
  const std::unique_ptr<Trace> trace = variant.rule->trace(sequence, form, Precision::f64, 1);
  for (const Phase& phase : trace->phases) {
    for (const Operation& operation : phase.operations)
      told(operation, latex(operation.equation, trace->symbols));
  }
}

/// The numbers a parameter accepts, as ranges of arrays are written: "[0, 1]", ">= 0", "finite".
std::string range_text(const Parameter& parameter) {
  constexpr double endless = 1e300;
  const bool below = parameter.minimum > -endless;
  const bool above = parameter.maximum < endless;
  if (below && above) return fmt::format("[{:g}, {:g}]", parameter.minimum, parameter.maximum);
  if (below) return fmt::format(">= {:g}", parameter.minimum);
  return above ? fmt::format("<= {:g}", parameter.maximum) : "finite";
}

std::string default_words(const Parameter& parameter) {
  return parameter.standard_words.empty() ? "required" : parameter.standard_words;
}

std::string shape_text(const std::vector<std::string>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// The devices that run a form with the default options: "cpu", "cpu, cuda f32", "none".
std::string where_it_runs(const Variant& variant, Form form) {
  std::vector<std::string> devices;
  const Settings settings = resolve(variant, {});
  for (const Backend* backend : backends()) {
    std::vector<Precision> precisions = precisions_of(*backend);
    const std::size_t missing = std::erase_if(precisions, [&](Precision precision) {
      return backend->missing(variant, settings, form, precision).has_value();
    });
    if (precisions.empty()) continue;
    devices.push_back(missing == 0 ? backend->name()
                                   : fmt::format("{} {}", backend->name(), joined_names(precisions, " ")));
  }
  return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
}

/// The rules that lack something, by what they lack: "two-pass", "chunkwise tf32 (if causal=false)".
using Lacking = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// What is missing, by the device and the reason.
using Missing = std::vector<std::pair<std::pair<std::string, std::string>, Lacking>>;

/// Many rules that lack the same are counted.
std::string in_words(const Lacking& lacking) {
  constexpr std::size_t most_named = 8;
  std::vector<std::string> all;
  for (const auto& [what, ids] : lacking) {
    if (ids.size() > most_named) {
      all.push_back(fmt::format("{} rules {}", ids.size(), what));
    } else {
      for (const std::string& id : ids) all.push_back(fmt::format("{} {}", id, what));
    }
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

void add_missing(Missing& all, const Backend& backend, const Variant& variant, Form form) {
  std::vector<std::optional<Gap>> gaps;
  const std::vector<Precision> precisions = precisions_of(backend);
  for (const Precision precision : precisions) gaps.push_back(gap(backend, variant, form, precision));
  const bool same = std::ranges::all_of(gaps, [&](const auto& other) { return other == gaps.front(); });
  for (std::size_t i = 0; i < (same ? 1 : gaps.size()); ++i) {
    if (!gaps[i]) continue;
    std::string what = name(form);
    if (!same) what += fmt::format(" {}", name(precisions[i]));
    if (gaps[i]->when != "always") what += fmt::format(" (if {})", gaps[i]->when);
    value_of(value_of(all, {backend.name(), gaps[i]->reason}), what).push_back(variant.id);
  }
}

std::string section(const std::string& heading, TextRows rows) {
  return rows.empty() ? "" : fmt::format("\n{}\n", heading) + columns(std::move(rows));
}

/// One line for every reason on every device, with all that it concerns.
std::string missing_text(std::span<const Variant> table) {
  Missing all;
  for (const Variant& variant : table) {
    for (const Backend* backend : backends()) {
      if (!unavailable(*backend).empty()) continue;  // said once, where the devices are listed
      for (const Form form : all_forms) add_missing(all, *backend, variant, form);
    }
  }
  TextRows rows;
  for (const auto& [where, lacking] : all)
    rows.push_back({where.first, fmt::format("{}: {}", in_words(lacking), where.second)});
  return section("Missing, and why", std::move(rows));
}

std::string variant_text(const Variant& variant) {
  TextRows arrays;
  for (const Input& input : all_inputs(variant)) {
    const bool is_decay = input.range == Range::decay;
    arrays.push_back({is_decay ? input.name + " or g" : input.name, shape_text(input.shape),
                      is_decay ? "[0, 1]; g = log alpha: [-inf, 0]" : describe(input.range),
                      input.meaning +
                          (input.when.options.empty() ? "" : fmt::format("; with {}", describe(input.when))) +
                          (input.absent ? fmt::format(" (if absent: {})", *input.absent) : "")});
  }
  TextRows parameters;
  for (const Parameter& parameter : all_parameters(variant))
    parameters.push_back(
        {parameter.name, range_text(parameter),
         fmt::format("{} (default: {}){}", parameter.meaning,
                     parameter.standard ? fmt::format("{:g}", *parameter.standard) : default_words(parameter),
                     parameter.per_head ? "; may be an array [H] of the input" : "")});
  TextRows options;
  for (const Option& option : variant.options)
    options.push_back({option.name,
                       fmt::format("{} (default: {})", fmt::join(option.values, ", "),
                                   option.follows.empty() ? option.values.front() : option.follows),
                       option.meaning});
  TextRows states;
  for (const StateSet& set : state_sets(variant)) {
    for (const StateArray& array : set.states) {
      states.push_back(
          {array.state, shape_text(array.shape), fmt::format("from {} to {}", array.initial, array.final)});
      if (!set.when.empty()) states.back().push_back("with " + set.when);
    }
  }
  TextRows forms;
  std::string steps;
  for (const Form form : all_forms) {
    forms.push_back({name(form), where_it_runs(variant, form)});
    TextRows formulas;
    for_each_formula(variant, form, [&](const Operation& operation, const std::string& formula) {
      formulas.push_back({operation.title, unicode(formula)});
    });
    steps += section(fmt::format("Steps of the {} form", name(form)), std::move(formulas));
  }
  return fmt::format("{}: {}\n", variant.id, variant.label) + paragraph(variant.words) +
         paragraph("Paper: " + variant.paper) + section("Arrays of one head", arrays) +
         paragraph(
             "With heads H and batches B, arrays with n tokens are [B, n, H, ...], the others [B, H, ...].",
             2) +
         section("Parameters (--param NAME=VALUE)", parameters) +
         section("Options (--param NAME=VALUE)", options) +
         section("States, and their names before and after", states) +
         section("Forms, and the devices that run them", forms) + missing_text({&variant, 1}) + steps +
         "\nLoss\n" + paragraph(variant.loss.words, 2);
}

/// A value of an option as the contract writes it: words as they are, true and false as booleans.
Json option_value(const std::string& value) {
  if (value == "true" || value == "false") return value == "true";
  return value;
}

Json gap_json(const std::optional<Gap>& gap) {
  return gap ? Json{{"missing_when", gap->when}, {"reason", gap->reason}} : Json(nullptr);
}

Json input_json(const Input& input) {
  Json json = {{"shape", input.shape}, {"range", describe(input.range)}, {"doc", input.meaning}};
  if (input.absent) json.update({{"optional", true}, {"default", *input.absent}});
  if (input.range == Range::decay) json["alternative"] = "g";
  if (!input.when.options.empty()) json["when"] = describe(input.when);
  const StandIn& stand_in = input.stand_in;
  if (!(stand_in == StandIn{}))
    json["stand_in"] = {{"value", stand_in.value},
                        {"like", stand_in.like},
                        {"random", stand_in.random},
                        {"learning_rate", stand_in.learning_rate}};
  return json;
}

Json parameter_json(const Parameter& parameter) {
  Json json = {{"type", parameter.whole ? "int" : "float"},
               {"range", range_text(parameter)},
               {"minimum", parameter.minimum},
               {"maximum", parameter.maximum}};
  if (parameter.standard)
    json["default"] = *parameter.standard;
  else
    json.update({{"default", default_words(parameter)}, {"stand_in", parameter.stand_in}});
  json.update({{"doc", parameter.meaning}, {"per_head", parameter.per_head}});
  return json;
}

Json option_json(const Option& option) {
  Json values = Json::array();
  for (const std::string& value : option.values) values.push_back(option_value(value));
  return {{"values", values},
          {"default", option.follows.empty() ? values.front() : Json(option.follows)},
          {"doc", option.meaning}};
}

/// For each name of `all`, what `one` makes of it; an object also where there are none.
template <class All, class One>
Json by_name(const All& all, One one) {
  Json json = Json::object();
  for (const auto& each : all) json[each.name] = one(each);
  return json;
}

template <class One>
Json of_forms(One one) {
  Json json = Json::object();
  for (const Form form : all_forms) json[name(form)] = one(form);
  return json;
}

/// What `one` makes of each set of states: by the value of the option that decides, if one does.
template <class One>
Json of_state_sets(const Variant& variant, One one) {
  Json of_sets = Json::object();
  for (const StateSet& set : state_sets(variant)) of_sets[set.when] = one(set);
  return of_sets.size() == 1 ? of_sets.front() : of_sets;
}

Json state_names_json(const StateSet& set) {
  Json names = Json::array();
  for (const StateArray& state : set.states) names.push_back(state.state);
  return names;
}

/// The names under which files hold each state, and its shape.
Json state_arrays_json(const StateSet& set) {
  Json states = Json::object();
  for (const StateArray& array : set.states)
    states[array.state] = {{"initial", array.initial}, {"final", array.final}, {"shape", array.shape}};
  return states;
}

Json outputs_json(const Variant& variant) {
  std::vector<std::string> outputs = {"o"};
  for (const StateSet& set : state_sets(variant)) {
    for (const StateArray& state : set.states) {
      if (!is_among(state.final, outputs)) outputs.push_back(state.final);
    }
  }
  if (!variant.hand_over) return outputs;
  Arrays handed;
  variant.hand_over(smallest_sequence(variant, false), handed);
  for (const auto& [name, array] : handed) outputs.push_back(name);
  return outputs;
}

Json devices_json(const Variant& variant) {
  Json devices = Json::object();
  for (const Backend* backend : backends()) {
    devices[backend->name()] = of_forms([&](Form form) {
      Json precisions = Json::object();
      for (const Precision precision : all_precisions)
        precisions[name(precision)] = gap_json(gap(*backend, variant, form, precision));
      return precisions;
    });
  }
  return devices;
}

Json formulas_json(const Variant& variant, Form form) {
  Json steps = Json::array();
  for_each_formula(variant, form, [&](const Operation& operation, const std::string& formula) {
    steps.push_back({{"operation", operation.id},
                     {"title", operation.title},
                     {"latex", formula},
                     {"text", unicode(formula)}});
  });
  return steps;
}

Json variant_json(const Variant& variant) {
  return {
      {"id", variant.id},
      {"title", variant.label},
      {"doc", variant.words},
      {"paper", variant.paper},
      {"inputs", by_name(all_inputs(variant), input_json)},
      {"params", by_name(all_parameters(variant), parameter_json)},
      {"options", by_name(variant.options, option_json)},
      {"states", of_state_sets(variant, state_names_json)},
      {"state_arrays", of_state_sets(variant, state_arrays_json)},
      {"outputs", outputs_json(variant)},
      {"forms",
       of_forms([&](Form form) { return gap_json(gap(cpu_backend(), variant, form, Precision::f64)); })},
      {"devices", devices_json(variant)},
      {"formulas", of_forms([&](Form form) { return formulas_json(variant, form); })},
      {"loss", {{"doc", variant.loss.words}, {"latex", variant.loss.latex}, {"step", variant.loss.step}}}};
}

}  // namespace

std::optional<Gap> gap(const Backend& backend, const Variant& variant, Form form, Precision precision) {
  std::vector<Chosen> present;
  std::vector<Chosen> absent;
  std::vector<std::string> reasons;
  for (const Settings& given : option_choices(variant)) {
    const Settings settings = resolve(variant, given);
    Chosen choice;
    for (const Option& option : variant.options)
      choice.emplace_back(option.name, settings.option(option.name));
    const auto reason = backend.missing(variant, settings, form, precision);
    if (reason && !is_among(*reason, reasons)) reasons.push_back(*reason);
    (reason ? absent : present).push_back(std::move(choice));
  }
  if (absent.empty()) return std::nullopt;
  const std::string why = fmt::format("{}", fmt::join(reasons, " "));
  if (present.empty()) return Gap{"always", why};
  return Gap{fmt::format("{}", fmt::join(conditions(variant, present, absent), ", or ")), why};
}

std::string overview_text(std::span<const Variant> table) {
  const std::string cuda = cuda_runtime_version();
  TextRows devices;
  for (const Backend* backend : backends()) {
    std::string words = describe(*backend);
    if (unavailable(*backend).empty()) words += "; " + joined_names(precisions_of(*backend));
    devices.push_back({backend->name(), words});
  }
  TextRows rows = {{"", ""}};
  for (const Form form : all_forms) rows.front().push_back(name(form));
  for (const Variant& variant : table) {
    rows.push_back({variant.id, variant.label});
    for (const Form form : all_forms) rows.back().push_back(where_it_runs(variant, form));
  }
  return fmt::format("Palimpsest {}\n{}, Eigen {}, {}\n", version(), compiler(), eigen_version(),
                     cuda.empty() ? "built without CUDA" : "CUDA " + cuda) +
         section("Devices", devices) + section("Variants, and the devices that run their forms", rows) +
         missing_text(table) + "\nMore about one: palimpsest info VARIANT\n";
}

std::string overview_json(std::span<const Variant> table) {
  const std::string cuda = cuda_runtime_version();
  Json json = {{"version", version()},      {"compiler", compiler()},
               {"eigen", eigen_version()},  {"cuda", cuda.empty() ? Json(nullptr) : Json(cuda)},
               {"devices", Json::object()}, {"variants", Json::object()}};
  for (const Backend* backend : backends())
    json["devices"][backend->name()] = {{"available", unavailable(*backend).empty()},
                                        {"doc", describe(*backend)}};
  for (const Variant& variant : table) json["variants"][variant.id] = variant_json(variant);
  return json.dump(1) + '\n';
}

Task add_info(CommandOptions command, Console console) {
  command.option("VARIANT", "Show this variant in full");
  command.flag("--json", "Write JSON for programs");
  return [command, console]() -> int {
    const bool in_json = command.is_set("--json");
    if (!command.gave("VARIANT")) {
      console.out << (in_json ? overview_json() : overview_text());
    } else {
      const Variant& variant = find_variant(variant_id(command["VARIANT"]));
      console.out << (in_json ? variant_json(variant).dump(1) + '\n' : variant_text(variant));
    }
    return exit_done;
  };
}

}  // namespace palimpsest
