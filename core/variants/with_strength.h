#pragma once

#include "core/variants/variants.h"

// Rules that add up what is written and scale none of it, with the strength β that they lack, so that they
// can be compared with those that have one: o = Σ β v (k · q).

namespace palimpsest {

/// What the id of such a rule ends with.
inline constexpr std::string_view strength_suffix = "_with_beta";

/// `variant` with a strength; null where it has one, or is no such sum. find_variant() knows them, but no
/// list shows them.
const Variant* with_strength(std::string_view variant);

/// The id of the rule that was given the strength.
std::string without_strength(std::string variant);

/// Those between two stops of the rail that lack a strength, or move it in, with the whole strength all the
/// way.
std::span<const Variant> strengthened_joints();

}  // namespace palimpsest
