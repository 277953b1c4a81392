#pragma once

#include <span>
#include <string_view>

#include "core/contract/variant.h"

// clang-format off
/// The family, in the order in which its members are best met: one row per file of core/variants, named as its function.
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

/// Every variant, in the order in which they are best met.
std::span<const Variant> variants();

/// The variant with this id among `table`; throws InputError listing the known ids.
const Variant& find_variant(std::string_view id, std::span<const Variant> table = variants());

}  // namespace palimpsest
