#include "core/variants/with_strength.h"

#include <fmt/format.h>

#include "core/formula/functions.h"
#include "core/rules/row_rule.h"

// clang-format off
/// The family, in the order in which its members are best met: one row per variant, named as its function in this room.
#define PALIMPSEST_VARIANTS(row) \
  row(softmax) \
  row(fox) \
  row(linear) \
  row(kernel) \
  row(double_softmax) \
  row(retnet) \
  row(lightning) \
  row(scalar_decay) \
  row(gla) \
  row(hgrn2) \
  row(value_decay) \
  row(longhorn) \
  row(deltanet) \
  row(gated_deltanet) \
  row(kda) \
  row(value_decay_delta) \
  row(two_sided_delta) \
  row(gated_deltanet2) \
  row(comba) \
  row(deltaproduct) \
  row(rwkv7) \
  row(titans) \
  row(mesanet) \
  row(rls) \
  row(mamba) \
  row(ttt_linear) \
  row(ttt_mlp) \
  row(lact)

// clang-format on

namespace palimpsest {

#define DECLARE(name) Variant name();
PALIMPSEST_VARIANTS(DECLARE)
#undef DECLARE

namespace {

/// `variant` with the option `order`, after as the default, where no_read_order() says nothing.
Variant with_read_order(Variant variant) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows || rows->normalised() || row_called(variant.options, read_order_option, &Option::name))
    return variant;
  std::string meaning = "read the output before or after this token's write";
  if (is_among("causal", variant.options, &Option::name)) meaning += ", where causal";
  variant.options.push_back({read_order_option, {reads_after, reads_before}, meaning});
  variant.rule = std::make_shared<RowRule>(in_either_order(rows->declaration()));
  return variant;
}

}  // namespace

std::span<const Variant> variants() {
#define CALL(name) with_read_order(name()),
  static const std::vector<Variant> table = {PALIMPSEST_VARIANTS(CALL)};
#undef CALL
  return table;
}

const Variant& find_variant(std::string_view id, std::span<const Variant> table) {
  if (table.data() == variants().data() && table.size() == variants().size()) {
    if (const Variant* const joint = row_called(joints(), id, &Variant::id)) return *joint;
    if (id.ends_with(strength_suffix)) {
      id.remove_suffix(strength_suffix.size());
      if (const Variant* const strengthened = with_strength(id)) return *strengthened;
    }
  }
  return find_row(table, id, &Variant::id, fmt::format("there is no variant \"{}\"; known", id));
}

// Beside the table of variants, since some functions are a variant's own.
std::span<const Function> functions() {
  static const std::vector<Function> table = [] {
    std::vector<Function> all = common_functions();
    for (const Variant& variant : variants())
      all.insert(all.end(), variant.functions.begin(), variant.functions.end());
    return all;
  }();
  return table;
}

RowDeclaration in_either_order(RowDeclaration rule) {
  rule.structure = [in_own_order = rule.structure](const Settings& settings) {
    Structure structure = in_own_order(settings);
    const std::string* order = value_at(settings.options, read_order_option);
    if (order && *order == reads_before && structure.reads_on_the_way())
      structure.read_at = ReadAt::before_row;
    return structure;
  };
  return rule;
}

std::string no_read_order(const Variant& variant, const Settings& settings) {
  const std::string* causal = value_at(settings.options, "causal");
  if (causal && *causal == "false")
    return "Every token reads the memory after the last token, so the order does not apply.";
  if (is_among(read_order_option, variant.options, &Option::name)) return "";
  const RowRule* const rows = variant.rule->row_program();
  if ((rows && rows->normalised()) || !variant.memory.none.empty())
    return "The output is a mean over the tokens so far, so it needs at least this token's write.";
  return "This rule always reads after this token's write.";
}

}  // namespace palimpsest
