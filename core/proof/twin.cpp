#include "core/proof/twin.h"

#include <fmt/ranges.h>

#include <set>

#include "core/cases/random_case.h"
#include "core/proof/reference_run.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// The arrays that a rule with its usual options is given, but for initial states.
std::set<std::string> arrays_of(const Variant& variant) {
  std::set<std::string> names;
  for (const Input& input : all_inputs(variant)) {
    if (!input.name.starts_with("initial_") && input.when.options.empty())
      names.insert(fmt::format("{} {}", input.name, fmt::join(input.shape, " ")));
  }
  return names;
}

/// Whether `known` has every setting of `rule`, and defaults for its others.
bool has_settings_of(const Variant& known, const Variant& rule) {
  const auto has = [](const Variant& variant, const Parameter& setting) {
    return row_called(variant.parameters, setting.name, &Parameter::name) != nullptr;
  };
  return std::ranges::all_of(rule.parameters, [&](const Parameter& each) { return has(known, each); }) &&
         std::ranges::all_of(known.parameters, [&](const Parameter& each) {
           return has(rule, each) || each.standard || !each.standard_words.empty();
         });
}

bool agrees(const Variant& rule, const Variant& known) {
  constexpr double rounding = 1e-12;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Settings settings = random_settings(known, {}, seed);
    std::erase_if(settings.parameters, [&](const auto& each) {
      return each.first != "scale" && !row_called(rule.parameters, each.first, &Parameter::name);
    });
    settings = resolve(known, settings);
    const auto arrays = std::make_shared<const Arrays>(
        random_arrays(known, settings, {.tokens = 9, .dk = 4, .dv = 3, .initial_state = true, .seed = seed}));
    const auto output = [&](const Variant& variant) {
      Settings given;
      for (const Parameter& setting : all_parameters(variant))
        if (const double* const value = value_at(settings.parameters, setting.name))
          given.parameters[setting.name] = *value;
      const SequenceBatch batch = palimpsest::bind(variant, arrays, resolve(variant, given));
      return reference(variant, batch.heads.front());
    };
    if (!(compare(output(rule), output(known)).error <= rounding)) return false;
  }
  return true;
}

}  // namespace

const Variant* twin_of(const Variant& rule) {
  const std::set<std::string> arrays = arrays_of(rule);
  for (const Variant& known : variants()) {
    if (arrays_of(known) == arrays && has_settings_of(known, rule) &&
        known.states.size() == rule.states.size() && agrees(rule, known))
      return &known;
  }
  return nullptr;
}

}  // namespace palimpsest
