#include "app/commands/formulas.h"

#include <memory>

#include "core/notation.h"
#include "core/random_case.h"
#include "core/rule.h"
#include "core/sequence.h"
#include "core/trace.h"

namespace palimpsest {

std::vector<Formula> formulas(const Variant& variant, Form form) {
  // With a scale and with all optional arrays: what they do stands in the formulas.
  const Settings settings = random_settings(variant, {.parameters = {{"scale", 0.5}}}, 1);
  if (variant.rule->missing(form, settings)) return {};
  // Steps are known from the variant alone, but a trace is always one of a sequence: the smallest will do.
  const RandomCase smallest{.tokens = 1, .dk = 2, .dv = 2, .initial_state = true};
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, smallest));
  const SequenceBatch batch = bind(variant, arrays, settings);
  const std::unique_ptr<Trace> trace = variant.rule->trace(batch.heads.front(), form, Precision::f64, 1);
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
