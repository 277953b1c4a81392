#pragma once

#include <span>

#include "core/contract/variant.h"
#include "core/race/report.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Whether the kernels for tensor cores know this rule at this size in chunks, in bf16 and tf32 that is, even
/// if `entry` is in another precision.
bool has_tensor_cores(const RaceEntry& entry, std::span<const Variant> table = variants());

}  // namespace palimpsest
