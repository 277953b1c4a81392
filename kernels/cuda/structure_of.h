#pragma once

#include <optional>

#include "core/program.h"
#include "core/variant.h"

namespace palimpsest {

/// The structure of a variant's row program with these settings; nothing if it is no row program.
std::optional<Structure> structure_of(const Variant& variant, const Settings& settings);

}  // namespace palimpsest
