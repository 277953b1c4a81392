#pragma once

#include <optional>

#include "core/contract/variant.h"
#include "core/operator/program.h"

namespace palimpsest {

/// What a variant with resolved `settings` computes as a row program, its optional arrays absent; nothing
/// where it is none. Required parameters that the settings lack change nothing. Where data say how many rows
/// a token has, it has several; whether gates come as logarithms is theirs alone.
std::optional<Structure> structure_of(const Variant& variant, const Settings& settings);

}  // namespace palimpsest
