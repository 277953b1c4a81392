#include "core/proof/twin.h"

#include <fmt/ranges.h>

#include <set>

#include "core/cases/random_case.h"
#include "core/proof/reference_run.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// What a rule must be given: arrays, but for initial states, and settings, but for the scale.
std::set<std::string> wants(const Variant& variant) {
  std::set<std::string> names;
  for (const Input& input : all_inputs(variant)) {
    if (!input.name.starts_with("initial_"))
      names.insert(fmt::format("{} {}", input.name, fmt::join(input.shape, " ")));
  }
  for (const Parameter& parameter : variant.parameters) names.insert(parameter.name);
  return names;
}

bool agrees(const Variant& rule, const Variant& known) {
  constexpr double rounding = 1e-12;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Settings settings = random_settings(known, {}, seed);
    const auto arrays = std::make_shared<const Arrays>(
        random_arrays(known, settings, {.tokens = 9, .dk = 4, .dv = 3, .initial_state = true, .seed = seed}));
    const auto output = [&](const Variant& variant) {
      const Settings given = {.parameters = settings.parameters};
      const SequenceBatch batch = palimpsest::bind(variant, arrays, resolve(variant, given));
      return reference(variant, batch.heads.front());
    };
    if (!(compare(output(rule), output(known)).error <= rounding)) return false;
  }
  return true;
}

}  // namespace

const Variant* twin_of(const Variant& rule) {
  const std::set<std::string> wanted = wants(rule);
  for (const Variant& known : variants()) {
    if (wants(known) == wanted && known.states.size() == rule.states.size() && agrees(rule, known))
      return &known;
  }
  return nullptr;
}

}  // namespace palimpsest
