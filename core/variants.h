#pragma once

#include "core/variant.h"

/// The family, in the order in which its members are best met: one row per file of core/variants, named as
/// its function.
#define PALIMPSEST_VARIANTS(row)                                                            \
  row(softmax) row(linear) row(kernel) row(retnet) row(scalar_decay) row(gla) row(deltanet) \
      row(gated_deltanet) row(kda) row(ttt_linear) row(ttt_mlp) row(lact)

namespace palimpsest {

#define DECLARE(name) Variant name();
PALIMPSEST_VARIANTS(DECLARE)
#undef DECLARE

}  // namespace palimpsest
