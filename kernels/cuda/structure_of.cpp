#include "kernels/cuda/structure_of.h"

#include "core/cases/random_case.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

std::optional<Structure> structure_of(const Variant& variant, const Settings& settings) {
  const auto* rule = dynamic_cast<const RowRule*>(variant.rule.get());
  if (!rule) return std::nullopt;
  // A structure does not depend on the numbers: an encoder tells it from no tokens at all.
  const Settings complete = random_settings(variant, settings, 1);
  const RandomCase nothing = {.tokens = 0, .dk = 1, .dv = 1};
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, complete, nothing));
  const SequenceBatch batch = bind(variant, arrays, complete);
  return rule->encoder().encode<double>(batch.heads.front(), 0, 0).structure;
}

}  // namespace palimpsest
