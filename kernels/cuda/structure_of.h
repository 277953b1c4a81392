#pragma once

#include <optional>

#include "core/contract/variant.h"
#include "core/operator/program.h"

namespace palimpsest {

/// The structure of a variant's row program with these settings; nothing if it is no row program.
std::optional<Structure> structure_of(const Variant& variant, const Settings& settings);

}  // namespace palimpsest
