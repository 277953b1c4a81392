#include "core/variants.h"

namespace palimpsest {

std::span<const Variant> variants() {
  static const std::vector<Variant> table = {
      softmax(),
      linear(),
      kernel(),
      retnet(),
      scalar_decay(),
      gla(),
      deltanet(),
      gated_deltanet(),
      kda(),
  };
  return table;
}

}  // namespace palimpsest
