#include "core/variants/variants.h"

namespace palimpsest {

std::span<const Variant> variants() {
#define CALL(name) name(),
  static const std::vector<Variant> table = {PALIMPSEST_VARIANTS(CALL)};
#undef CALL
  return table;
}

}  // namespace palimpsest
