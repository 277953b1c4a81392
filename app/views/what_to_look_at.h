#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/session/data_set.h"

namespace palimpsest {

/// What to look for in data: a plain sentence first; what was measured follows when asked for, or at once
/// where `all`. Names of `captures` in it are links; returns the one that was pressed.
std::optional<std::string> what_to_look_at(const DataSet& data, std::span<const std::string> captures,
                                           bool all);

}  // namespace palimpsest
