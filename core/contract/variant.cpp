#include "core/contract/variant.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "core/base/refuse.h"

namespace palimpsest {

const std::string& Settings::option(std::string_view name) const {
  if (const std::string* value = value_at(options, name)) return *value;
  refuse("option {} is missing", name);
}

namespace {

struct RangeRow {
  Range range;
  const char* words;
  Bounds bounds;
};

using Limits = std::numeric_limits<double>;

constexpr RangeRow ranges[] = {
    {Range::finite, "finite", {Limits::lowest(), Limits::max()}},
    {Range::decay, "[0, 1]", {0, 1}},
    {Range::unit, "[0, 1]", {0, 1}},
    {Range::positive_unit, "(0, 1]", {Limits::denorm_min(), 1}},
    {Range::up_to_two, "[0, 2]", {0, 2}},
    {Range::non_positive, "<= 0", {Limits::lowest(), 0}},
    {Range::non_negative, ">= 0", {0, Limits::max()}},
    {Range::strength, "finite; stable in [0, 2] if |k| = 1", {Limits::lowest(), Limits::max()}},
    {Range::finite_or_minus_inf, "finite or -inf", {-Limits::infinity(), Limits::max()}},
    {Range::log_decay, "[-inf, 0]", {-Limits::infinity(), 0}},
    {Range::positive_definite,
     "symmetric positive definite, or its diagonal",
     {Limits::lowest(), Limits::max()}},
    {Range::gram, "symmetric, no negative eigenvalue", {Limits::lowest(), Limits::max()}},
};

}  // namespace

std::string describe(Range range) { return std::ranges::find(ranges, range, &RangeRow::range)->words; }

Bounds bounds(Range range) { return std::ranges::find(ranges, range, &RangeRow::range)->bounds; }

std::vector<Input> all_inputs(const Variant& variant) {
  std::vector<Input> inputs = {{"q", {"n", "dk"}, Range::finite, "query: the vector that reads the memory"},
                               {"k", {"n", "dk"}, Range::finite, "key: the value is stored under it"},
                               {"v", {"n", "dv"}, Range::finite, "value: the vector to store"}};
  for (const Input& own : variant.inputs) {
    const auto common = std::ranges::find(inputs, own.name, &Input::name);
    if (common == inputs.end())
      inputs.push_back(own);
    else
      *common = own;
  }
  std::erase_if(inputs, [&](const Input& input) { return is_among(input.name, variant.makes); });
  return inputs;
}

std::vector<Input> inputs_of(const Variant& variant, const Settings& settings) {
  std::vector<Input> inputs = all_inputs(variant);
  std::erase_if(inputs, [&](const Input& input) { return !input.when.holds(settings); });
  return inputs;
}

std::vector<std::string> states_of(const Variant& variant, const Settings& settings) {
  std::vector<std::string> names;
  for (const State& state : variant.states) {
    if (state.when.holds(settings)) names.push_back(state.name);
  }
  return names;
}

InnerLoss loss_of(const Variant& variant, const Settings& settings) {
  InnerLoss loss = variant.loss;
  if (loss.adapt) loss.adapt(settings, loss);
  return loss;
}

std::vector<StateSet> state_sets(const Variant& variant) {
  const auto set_of = [&](std::string when, const Settings& settings) {
    StateSet set{std::move(when)};
    const std::vector<std::string> names = states_of(variant, settings);
    for (const std::string& name : names) {
      const std::string initial = initial_name(variant, settings, name);
      const Input* const input = row_called(variant.inputs, initial, &Input::name);
      set.states.push_back(
          {name, initial, final_name(names.size(), name), input ? input->shape : std::vector<std::string>{}});
    }
    return set;
  };
  const auto conditional =
      std::ranges::find_if(variant.states, [](const State& state) { return !state.when.options.empty(); });
  if (conditional == variant.states.end()) return {set_of("", {})};
  const std::string& name = conditional->when.options.front();
  std::vector<StateSet> sets;
  for (const std::string& value : std::ranges::find(variant.options, name, &Option::name)->values)
    sets.push_back(set_of(fmt::format("{}={}", name, value), {.options = {{name, value}}}));
  return sets;
}

bool has_tokens(const Input& input) { return !input.shape.empty() && input.shape.front() == "n"; }

bool Condition::holds(const Settings& settings) const {
  return options.empty() || std::ranges::any_of(options, [&](const std::string& option) {
           const std::string* chosen = value_at(settings.options, option);
           return chosen && *chosen == value;
         });
}

std::string describe(const Condition& condition) {
  if (condition.options.empty()) return "";
  return fmt::format("{}={}", fmt::join(condition.options, " or "), condition.value);
}

std::vector<Parameter> all_parameters(const Variant& variant) {
  constexpr double largest = std::numeric_limits<double>::max();
  std::vector<Parameter> parameters = {
      {"scale", -largest, largest, "multiplies q once, before anything else", 1.0, true}};
  parameters.insert(parameters.end(), variant.parameters.begin(), variant.parameters.end());
  return parameters;
}

std::vector<std::string> array_names(const Variant& variant) {
  std::vector<std::string> names;
  for (const Input& input : all_inputs(variant)) {
    names.push_back(input.name);
    if (input.range == Range::decay) names.emplace_back("g");
  }
  for (const Parameter& parameter : all_parameters(variant)) names.push_back(parameter.name);
  return names;
}

Settings resolve(const Variant& variant, const Settings& given) {
  Settings settings;
  for (const Option& option : variant.options) settings.options[option.name] = option.values.front();
  const std::vector<Parameter> parameters = all_parameters(variant);
  for (const Parameter& parameter : parameters) {
    if (parameter.standard) settings.parameters[parameter.name] = *parameter.standard;
  }

  std::vector<std::string> known = made_of(variant.options, &Option::name);
  for (const Parameter& parameter : parameters) known.push_back(parameter.name);
  const auto reject_unknown = [&](const std::string& name) {
    if (!is_among(name, known))
      refuse("{} has no parameter \"{}\"; it takes: {}", variant.id, name, fmt::join(known, ", "));
  };
  for (const auto& [name, value] : given.options) {
    reject_unknown(name);
    const auto option = std::ranges::find(variant.options, name, &Option::name);
    if (option == variant.options.end())
      refuse("parameter {} of {} is a number, not \"{}\"", name, variant.id, value);
    if (!is_among(value, option->values)) {
      refuse("option {} of {} is \"{}\"; expected one of: {}", name, variant.id, value,
             fmt::join(option->values, ", "));
    }
    settings.options[name] = value;
  }
  for (const Option& option : variant.options) {
    if (!given.options.contains(option.name) && !option.follows.empty())
      settings.options[option.name] = settings.options[option.follows];
  }
  if (variant.complete) variant.complete(settings);
  for (const auto& [name, value] : given.parameters) {
    reject_unknown(name);
    const auto parameter = std::ranges::find(parameters, name, &Parameter::name);
    if (parameter == parameters.end())
      refuse("option {} of {} is a word, not the number {}", name, variant.id, value);
    if (!(value >= parameter->minimum && value <= parameter->maximum)) {
      refuse("parameter {} of {} is {}; expected a number in [{:g}, {:g}]", name, variant.id, value,
             parameter->minimum, parameter->maximum);
    }
    if (parameter->whole && value != std::floor(value))
      refuse("parameter {} of {} is {}; expected a whole number", name, variant.id, value);
    settings.parameters[name] = value;
  }
  return settings;
}

std::string initial_name(const Variant& variant, const Settings& settings, std::string_view state) {
  if (is_among(state, variant.inputs, &Input::name)) return std::string(state);
  return states_of(variant, settings).size() == 1 ? "initial_state" : fmt::format("initial_{}", state);
}

std::string final_name(std::size_t count, std::string_view state) {
  return count == 1 ? "final_state" : fmt::format("final_{}", state);
}

Input decay_input(std::vector<std::string> shape, std::optional<std::string> absent) {
  return forgetting(
      {"alpha", std::move(shape), Range::decay, "decay of the state: how much is kept", std::move(absent)},
      1);
}

Input beta_input() {
  return {"beta", {"n"}, Range::strength, "write strength, the learning rate of the memory"};
}

Input mu_input() {
  return forgetting(
      demonstrated({"mu", {"n", "dv"}, Range::unit, "decay of the value channels: how much is kept"},
                   {.value = 0.97}),
      1);
}

Input demonstrated(Input input, StandIn stand_in) {
  input.stand_in = std::move(stand_in);
  return input;
}

Input forgetting(Input input, double keeps) {
  input.keeps = keeps;
  return input;
}

Input initial_state_input() {
  return {"initial_state", {"dk", "dv"}, Range::finite, "state before the first token", "0"};
}

}  // namespace palimpsest
