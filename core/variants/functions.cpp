#include "core/contract/variant.h"
#include "core/formula/functions/rows.h"

namespace palimpsest {

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
