#include "core/variants/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/formula/functions.h"
#include "core/rules/read_order.h"
#include "core/variants/rail.h"

namespace palimpsest {

std::span<const Variant> variants() {
#define CALL(name) with_read_order(name()),
  static const std::vector<Variant> table = {PALIMPSEST_VARIANTS(CALL)};
#undef CALL
  return table;
}

const Variant& find_variant(std::string_view id, std::span<const Variant> table) {
  const auto found = std::ranges::find(table, id, &Variant::id);
  if (found != table.end()) return *found;
  if (table.data() == variants().data() && table.size() == variants().size()) {
    const auto joint = std::ranges::find(joints(), id, &Variant::id);
    if (joint != joints().end()) return *joint;
  }
  std::vector<std::string> known;
  for (const Variant& variant : table) known.push_back(variant.id);
  throw InputError(fmt::format("there is no variant \"{}\"; known: {}", id, fmt::join(known, ", ")));
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

}  // namespace palimpsest
