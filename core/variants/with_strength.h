#pragma once

#include "core/variants/variants.h"

// Rules that add up unscaled writes, with an added strength β so that they can be compared with rules that
// have one: o = Σ β v (k · q).

namespace palimpsest {

/// What the id of such a rule ends with.
inline constexpr std::string_view strength_suffix = "_with_beta";

/// `variant` with a strength; null where it has one, or is no such sum. find_variant() finds them, but no
/// list shows them.
const Variant* with_strength(std::string_view variant);

/// The id of the rule that was given the strength.
std::string without_strength(std::string variant);

/// The rules between two stops of the rail that have no strength or add it, with the full strength at every
/// position.
std::span<const Variant> strengthened_joints();

}  // namespace palimpsest
