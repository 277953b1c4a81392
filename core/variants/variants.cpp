#include "core/variants/variants.h"

#include "core/rules/read_order.h"

namespace palimpsest {

std::span<const Variant> variants() {
#define CALL(name) with_read_order(name()),
  static const std::vector<Variant> table = {PALIMPSEST_VARIANTS(CALL)};
#undef CALL
  return table;
}

}  // namespace palimpsest
