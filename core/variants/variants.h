#pragma once

#include <span>
#include <string_view>

#include "core/contract/variant.h"

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

struct RowDeclaration;

#define DECLARE(name) Variant name();
PALIMPSEST_VARIANTS(DECLARE)
#undef DECLARE

/// Every variant, in the order in which they are best met. A row program whose memory can be read at any time
/// has the option `order`, unless it has one of its own.
std::span<const Variant> variants();

/// The variant with this id among `table`; throws InputError listing the known ids.
const Variant& find_variant(std::string_view id, std::span<const Variant> table = variants());

/// The option that says whether a token reads the memory after its own update, o_t = S_t^T q_t, or before it,
/// o_t = S_{t-1}^T q_t, as papers differ. LaCT has it for whole batches.
inline constexpr const char* read_order_option = "order";
inline constexpr const char* reads_after = "update_first";
inline constexpr const char* reads_before = "apply_first";

/// Row rules that read before their rows where the settings want that and tokens read on the way.
RowDeclaration in_either_order(RowDeclaration rule);

/// Why tokens of `variant` read at one time only, with these settings; empty where the option has an effect.
std::string no_read_order(const Variant& variant, const Settings& settings);

}  // namespace palimpsest
