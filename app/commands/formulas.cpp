#include "app/commands/formulas.h"

#include <memory>

#include "core/cases/random_case.h"
#include "core/contract/sequence.h"
#include "core/formula/notation.h"
#include "core/rules/rule.h"
#include "core/steps/trace.h"

namespace palimpsest {

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
