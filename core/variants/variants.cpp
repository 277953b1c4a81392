#include "core/variants/variants.h"

#include <fmt/format.h>

#include "core/formula/functions.h"
#include "core/rules/row_rule.h"
#include "core/written/written_rule.h"

/// The family, in the order in which its members are best met; each is named as its function in this room.
// clang-format off
#define PALIMPSEST_VARIANTS(row) \
  row(softmax) row(fox) row(linear) row(kernel) row(double_softmax) row(retnet) row(lightning) \
  row(scalar_decay) row(gla) row(hgrn2) row(value_decay) row(longhorn) row(deltanet) row(gated_deltanet) \
  row(kda) row(value_decay_delta) row(two_sided_delta) row(gated_deltanet2) row(comba) row(deltaproduct) \
  row(rwkv7) row(titans) row(mesanet) row(rls) row(mamba) row(ttt_linear) row(ttt_mlp) row(lact)
// clang-format on

namespace palimpsest {

#define DECLARE(name) Variant name();
PALIMPSEST_VARIANTS(DECLARE)
#undef DECLARE

namespace {

/// `variant` with the rule of its text, where it declares none.
Variant with_rule(Variant variant) {
  if (!variant.rule) variant.rule = rule_of_text(variant);
  return variant;
}

/// `variant` with the option `order`, after as the default, where no_read_order() says nothing. A rule of
/// which a text says all may have the option `causal` too.
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

bool adds_without_strength(const Variant& variant) {
  const RowRule* const rows = variant.rule->row_program();
  if (!rows || rows->normalised()) return false;
  const Structure structure = rows->structure(resolve(variant, {}));
  return structure.erase == Erase::none && !structure.beta && structure.parts.empty() &&
         structure.rows_per_read == 1 && !structure.plain_write;
}

Variant strengthened(Variant variant) {
  RowDeclaration rows = variant.rule->row_program()->declaration();
  rows.structure = [without = rows.structure](const Settings& settings) {
    Structure structure = without(settings);
    structure.beta = true;
    return structure;
  };
  rows.encoder = [without = rows.encoder]<class Scalar>(const Rows<Scalar>& tokens) {
    Program<Scalar> program = without.template in<Scalar>()(tokens);
    program.beta = tokens("beta");
    return program;
  };
  variant.id += strength_suffix;
  variant.recurrence = {};
  variant.inputs.insert(variant.inputs.begin(), beta_input());
  variant.rule = std::make_shared<RowRule>(std::move(rows));
  return variant;
}

/// The rules and the joints of the rail with a strength.
std::span<const Variant> strengthened_rules() {
  static const std::vector<Variant> table = [] {
    std::vector<Variant> all;
    for (const Variant& variant : variants()) {
      if (adds_without_strength(variant)) all.push_back(strengthened(variant));
    }
    const std::span<const Variant> joints = strengthened_joints();
    all.insert(all.end(), joints.begin(), joints.end());
    return all;
  }();
  return table;
}

}  // namespace

std::span<const Variant> variants() {
#define CALL(name) with_read_order(with_rule(name())),
  static const std::vector<Variant> table = {PALIMPSEST_VARIANTS(CALL)};
#undef CALL
  return table;
}

const Variant& find_variant(std::string_view id, std::span<const Variant> table) {
  if (table.data() == variants().data() && table.size() == variants().size()) {
    for (const std::span<const Variant> unlisted : {joints(), strengthened_rules()})
      if (const Variant* const found = row_called(unlisted, id, &Variant::id)) return *found;
  }
  if (id.starts_with(written_prefix)) return written_rule(id).variant;
  return find_row(table, id, &Variant::id, fmt::format("there is no variant \"{}\"; known", id));
}

std::string name_in_reports(std::string_view id) {
  return id.starts_with(written_prefix) ? written_rule(id).variant.label : std::string(id);
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

const Variant* with_strength(std::string_view variant) {
  return row_called(strengthened_rules(), std::string(variant) + std::string(strength_suffix), &Variant::id);
}

std::string without_strength(std::string variant) {
  if (variant.ends_with(strength_suffix)) variant.resize(variant.size() - strength_suffix.size());
  return variant;
}

RowDeclaration in_either_order(RowDeclaration rule) {
  rule.structure = [in_own_order = rule.structure](const Settings& settings) {
    Structure structure = in_own_order(settings);
    const std::string* order = value_at(settings.options, read_order_option);
    const std::string* causal = value_at(settings.options, "causal");
    if (causal && *causal == "false")
      structure.read_at = ReadAt::end;
    else if (order && *order == reads_before)
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
