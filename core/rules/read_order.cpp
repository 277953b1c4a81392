#include "core/rules/read_order.h"

#include <algorithm>

#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

const Option* option_of(const Variant& variant, std::string_view name) {
  const auto found = std::ranges::find(variant.options, name, &Option::name);
  return found == variant.options.end() ? nullptr : &*found;
}

}  // namespace

RowDeclaration in_either_order(RowDeclaration rule) {
  rule.structure = [in_own_order = rule.structure](const Settings& settings) {
    Structure structure = in_own_order(settings);
    const auto order = settings.options.find(read_order_option);
    const bool is_before = order != settings.options.end() && order->second == reads_before;
    if (is_before && structure.reads_on_the_way()) structure.read_at = ReadAt::before_row;
    return structure;
  };
  return rule;
}

Variant with_read_order(Variant variant) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows || rows->normalised() || option_of(variant, read_order_option)) return variant;
  std::string meaning = "read after or before the own update";
  if (option_of(variant, "causal")) meaning += ", where causal";
  variant.options.push_back({read_order_option, {reads_after, reads_before}, meaning});
  variant.rule = std::make_shared<RowRule>(in_either_order(rows->declaration()));
  return variant;
}

std::string no_read_order(const Variant& variant, const Settings& settings) {
  const auto causal = settings.options.find("causal");
  if (causal != settings.options.end() && causal->second == "false")
    return "Every word reads the memory after the last one: there is no own update to read before.";
  if (option_of(variant, read_order_option)) return "";
  const RowRule* const rows = variant.rule->row_program();
  if ((rows && rows->normalised()) || !variant.memory.none.empty())
    return "What comes out is an average over the words so far: before the first there is none.";
  return "This rule always reads after its own update.";
}

}  // namespace palimpsest
