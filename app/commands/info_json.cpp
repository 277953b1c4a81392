#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/command_line.h"
#include "app/commands/info.h"
#include "app/session/devices.h"
#include "kernels/device.h"

namespace palimpsest {

namespace {

using Json = nlohmann::ordered_json;

Json empty_object() { return Json::object(); }

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
  if (input.absent) {
    json["optional"] = true;
    json["default"] = *input.absent;
  }
  if (input.range == Range::decay) json["alternative"] = "g";
  if (!input.when.options.empty()) json["when"] = describe(input.when);
  const StandIn& stand_in = input.stand_in;
  if (!(stand_in == StandIn{})) {
    json["stand_in"] = {{"value", stand_in.value},
                        {"like", stand_in.like},
                        {"random", stand_in.random},
                        {"learning_rate", stand_in.learning_rate}};
  }
  return json;
}

Json parameter_json(const Parameter& parameter) {
  Json json = {{"type", parameter.whole ? "int" : "float"},
               {"range", range_text(parameter)},
               {"minimum", parameter.minimum},
               {"maximum", parameter.maximum}};
  if (parameter.standard) {
    json["default"] = *parameter.standard;
  } else {
    json["default"] = parameter.standard_words.empty() ? "required" : parameter.standard_words;
    json["stand_in"] = parameter.stand_in;
  }
  json["doc"] = parameter.meaning;
  json["per_head"] = parameter.per_head;
  return json;
}

Json option_json(const Option& option) {
  Json values = Json::array();
  for (const std::string& value : option.values) values.push_back(option_value(value));
  return {{"values", values},
          {"default", option.follows.empty() ? values.front() : Json(option.follows)},
          {"doc", option.meaning}};
}

Json states_json(const Variant& variant) {
  const std::vector<StateSet> sets = state_sets(variant);
  if (sets.size() == 1) return sets.front().names;
  Json states = empty_object();
  for (const StateSet& set : sets) states[set.when] = set.names;
  return states;
}

/// The names under which files hold each state, and its shape; for each value of the option that decides, if
/// one does.
Json state_arrays_json(const Variant& variant) {
  const std::vector<StateSet> sets = state_sets(variant);
  Json of_sets = empty_object();
  for (const StateSet& set : sets) {
    Json& states = of_sets[set.when] = empty_object();
    for (const StateArray& array : state_arrays(variant, set))
      states[array.state] = {{"initial", array.initial}, {"final", array.final}, {"shape", array.shape}};
  }
  return sets.size() == 1 ? of_sets.front() : of_sets;
}

Json forms_json(const Variant& variant) {
  Json forms = empty_object();
  for (const Form form : all_forms) {
    forms[name(form)] = gap_json(gap(cpu_backend(), variant, form, Precision::f64));
  }
  return forms;
}

Json devices_json(const Variant& variant) {
  Json devices = empty_object();
  for (const Backend* backend : backends()) {
    for (const Form form : all_forms) {
      for (const Precision precision : all_precisions) {
        devices[backend->name()][name(form)][name(precision)] =
            gap_json(gap(*backend, variant, form, precision));
      }
    }
  }
  return devices;
}

Json formulas_json(const Variant& variant) {
  Json forms = empty_object();
  for (const Form form : all_forms) {
    Json steps = Json::array();
    for (const Formula& formula : formulas(variant, form)) {
      steps.push_back({{"operation", formula.operation},
                       {"title", formula.title},
                       {"latex", formula.latex},
                       {"text", formula.text}});
    }
    forms[name(form)] = steps;
  }
  return forms;
}

Json to_json(const Variant& variant) {
  Json json = {
      {"id", variant.id}, {"title", variant.label}, {"doc", variant.words}, {"paper", variant.paper}};
  json["inputs"] = empty_object();
  for (const Input& input : all_inputs(variant)) json["inputs"][input.name] = input_json(input);
  json["params"] = empty_object();
  for (const Parameter& parameter : all_parameters(variant))
    json["params"][parameter.name] = parameter_json(parameter);
  json["options"] = empty_object();
  for (const Option& option : variant.options) json["options"][option.name] = option_json(option);
  json["states"] = states_json(variant);
  json["state_arrays"] = state_arrays_json(variant);
  json["outputs"] = {"o"};
  for (const StateSet& set : state_sets(variant)) {
    for (const std::string& state : set.names) {
      const std::string output = final_name(set.names.size(), state);
      const Json& outputs = json["outputs"];
      if (std::find(outputs.begin(), outputs.end(), output) == outputs.end())
        json["outputs"].push_back(output);
    }
  }
  if (variant.hand_over) {
    Arrays handed;
    variant.hand_over(smallest_sequence(variant, false), handed);
    for (const auto& [name, array] : handed) json["outputs"].push_back(name);
  }
  json["forms"] = forms_json(variant);
  json["devices"] = devices_json(variant);
  json["formulas"] = formulas_json(variant);
  json["loss"] = {{"doc", variant.loss.words}, {"latex", variant.loss.latex}, {"step", variant.loss.step}};
  return json;
}

std::string written(const Json& json) { return json.dump(1) + '\n'; }

}  // namespace

std::string overview_json(std::span<const Variant> table) {
  const std::string cuda = cuda_runtime_version();
  Json json = {{"version", version()}, {"compiler", compiler()}, {"eigen", eigen_version()}};
  json["cuda"] = cuda.empty() ? Json(nullptr) : Json(cuda);
  json["devices"] = empty_object();
  for (const Backend* backend : backends()) {
    const std::string reason = unavailable(*backend);
    json["devices"][backend->name()] = {{"available", reason.empty()}, {"doc", describe(*backend)}};
  }
  json["variants"] = empty_object();
  for (const Variant& variant : table) json["variants"][variant.id] = to_json(variant);
  return written(json);
}

std::string variant_json(const Variant& variant) { return written(to_json(variant)); }

}  // namespace palimpsest
