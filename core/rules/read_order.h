#pragma once

#include <string>

#include "core/contract/variant.h"

namespace palimpsest {

struct RowDeclaration;

/// The option that says whether a token reads the memory after its own update, o_t = S_t^T q_t, or before it,
/// o_t = S_{t-1}^T q_t, as papers differ. LaCT has it for whole batches.
inline constexpr const char* read_order_option = "order";
inline constexpr const char* reads_after = "update_first";
inline constexpr const char* reads_before = "apply_first";

/// `variant` with this option, after as the default, where it is a row program whose memory can be read at
/// any time; as it is where it cannot (no_read_order() says why) or has an option of that name.
Variant with_read_order(Variant variant);

/// `rule`, but with reads before their rows where the settings want that and tokens read on the way.
RowDeclaration in_either_order(RowDeclaration rule);

/// Why tokens of `variant` read at one time only, with these settings; empty where the option has an effect.
std::string no_read_order(const Variant& variant, const Settings& settings);

}  // namespace palimpsest
