#include "core/variants/with_strength.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

namespace {

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
    Program<Scalar> program = without(tokens);
    program.beta = tokens("beta");
    return program;
  };
  variant.id += strength_suffix;
  variant.recurrence = {};
  variant.inputs.insert(variant.inputs.begin(), beta_input());
  variant.rule = std::make_shared<RowRule>(std::move(rows));
  return variant;
}

}  // namespace

/// The rules and the joints of the rail with a strength.
static std::span<const Variant> strengthened_rules() {
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

const Variant* with_strength(std::string_view variant) {
  return row_called(strengthened_rules(), std::string(variant) + std::string(strength_suffix), &Variant::id);
}

std::string without_strength(std::string variant) {
  if (variant.ends_with(strength_suffix)) variant.resize(variant.size() - strength_suffix.size());
  return variant;
}

}  // namespace palimpsest
