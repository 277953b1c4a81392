#pragma once

#include <span>

#include "core/contract/variant.h"

namespace palimpsest {

/// The rules between two neighbours of the rail (core/variants/rail.h): find_variant() knows them as it knows
/// the family, but no list shows them.
std::span<const Variant> joints();

}  // namespace palimpsest
