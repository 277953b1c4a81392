#include "app/commands/info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <memory>
#include <vector>

#include "core/cases/random_case.h"
#include "core/contract/sequence.h"
#include "core/formula/notation.h"
#include "core/proof/verify_plan.h"
#include "core/rules/rule.h"
#include "core/steps/trace.h"

namespace palimpsest {

namespace {

using Choice = std::vector<std::pair<std::string, std::string>>;  // some options and their values

/// Every combination of the values of all options.
std::vector<Choice> all_choices(const Variant& variant) {
  std::vector<Choice> choices = {{}};
  for (const Option& option : variant.options) {
    std::vector<Choice> longer;
    for (const Choice& choice : choices) {
      for (const std::string& value : option.values) {
        longer.push_back(choice);
        longer.back().emplace_back(option.name, value);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

bool is_part(const Choice& part, const Choice& whole) {
  return std::ranges::all_of(
      part, [&](const auto& entry) { return std::ranges::find(whole, entry) != whole.end(); });
}

/// Every choice of `size` of the options in `whole`.
std::vector<Choice> parts(const Choice& whole, std::size_t size, std::size_t first = 0) {
  if (size == 0) return {{}};
  std::vector<Choice> found;
  for (std::size_t i = first; i < whole.size(); ++i) {
    for (Choice part : parts(whole, size - 1, i + 1)) {
      part.insert(part.begin(), whole[i]);
      found.push_back(std::move(part));
    }
  }
  return found;
}

std::string words(const Choice& choice) {
  std::vector<std::string> equations;
  for (const auto& [name, value] : choice) equations.push_back(name + " = " + value);
  return fmt::format("{}", fmt::join(equations, " with "));
}

}  // namespace

std::optional<Gap> gap(const Backend& backend, const Variant& variant, Form form, Precision precision) {
  std::vector<Choice> present;
  std::vector<Choice> absent;
  std::vector<std::string> reasons;
  for (Choice& choice : all_choices(variant)) {
    Settings settings;
    settings.options.insert(choice.begin(), choice.end());
    if (!is_possible(variant, settings)) continue;
    const auto reason = backend.missing(variant, resolve(variant, settings), form, precision);
    if (reason && std::ranges::find(reasons, *reason) == reasons.end()) reasons.push_back(*reason);
    (reason ? absent : present).push_back(std::move(choice));
  }
  if (absent.empty()) return std::nullopt;
  if (present.empty()) return Gap{"always", fmt::format("{}", fmt::join(reasons, " "))};

  // The shortest choices of which every completion is absent, and none contains another.
  std::vector<Choice> conditions;
  for (std::size_t size = 1; size <= variant.options.size(); ++size) {
    for (const Choice& whole : absent) {
      for (const Choice& part : parts(whole, size)) {
        const auto contains_known = [&](const Choice& known) { return is_part(known, part); };
        const auto contains_part = [&](const Choice& choice) { return is_part(part, choice); };
        if (std::ranges::any_of(conditions, contains_known) || std::ranges::any_of(present, contains_part))
          continue;
        conditions.push_back(part);
      }
    }
  }
  std::vector<std::string> whens;
  std::ranges::transform(conditions, std::back_inserter(whens), words);
  return Gap{fmt::format("{}", fmt::join(whens, ", or ")), fmt::format("{}", fmt::join(reasons, " "))};
}

Sequence smallest_sequence(const Variant& variant, bool with_optional) {
  const Settings settings = random_settings(variant, {.parameters = {{"scale", 0.5}}}, 1);
  const RandomCase smallest{.tokens = 1, .dk = 2, .dv = 2, .initial_state = with_optional};
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, smallest));
  return palimpsest::bind(variant, arrays, settings).heads.front();
}

std::vector<Formula> formulas(const Variant& variant, Form form) {
  // Steps are known from the variant alone, but a trace is always one of a sequence: the smallest will do.
  // What is optional counts: what it does stands in the formulas.
  const Sequence sequence = smallest_sequence(variant, true);
  if (variant.rule->missing(form, sequence.settings)) return {};
  const std::unique_ptr<Trace> trace = variant.rule->trace(sequence, form, Precision::f64, 1);
  std::vector<Formula> found;
  for (const Phase& phase : trace->phases) {
    for (const Operation& operation : phase.operations) {
      const std::string formula = latex(operation.equation, trace->symbols);
      found.push_back({operation.id, operation.title, formula, unicode(formula)});
    }
  }
  return found;
}

}  // namespace palimpsest
