#include "core/rules/structure_of.h"

#include <memory>

#include "core/contract/sequence.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

/// A text without tokens, two wide along every other axis: what data alone say there may be several of.
Arrays no_tokens(const Variant& variant, const Settings& settings) {
  Arrays arrays;
  for (const Input& input : inputs_of(variant, settings)) {
    if (input.absent) continue;
    std::vector<Index> shape;
    for (const std::string& axis : input.shape) shape.push_back(axis == "n" ? 0 : 2);
    Array array;
    array.shape = shape;
    array.values = std::vector<double>(static_cast<std::size_t>(array.size()), 1.0);
    arrays[input.name] = std::move(array);
  }
  return arrays;
}

}  // namespace

std::optional<Structure> structure_of(const Variant& variant, const Settings& settings) {
  const RowRule* const rule = variant.rule->row_program();
  if (!rule) return std::nullopt;
  Settings complete = settings;
  for (const Parameter& parameter : all_parameters(variant)) {
    if (!parameter.standard) complete.parameters.try_emplace(parameter.name, parameter.stand_in);
  }
  const auto arrays = std::make_shared<const Arrays>(no_tokens(variant, complete));
  return rule->encode<float>(palimpsest::bind(variant, arrays, complete).heads.front(), 0, 0).structure;
}

}  // namespace palimpsest
