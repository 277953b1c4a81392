#pragma once

#include "core/base/array.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// The arrays of one head as those of so many batches of heads, every head the same numbers in memory of its
/// own: [B, T, H, ...], those without tokens [B, H, ...]. As held_in(precision) holds them.
Arrays repeated_heads(const Variant& variant, const Settings& settings, const Arrays& head, Index batches,
                      Index heads, Precision precision);

}  // namespace palimpsest
