#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/studio/command.h"

namespace palimpsest {

/// The commands of `table` in whose group, words or id every word of `typed` occurs, in capitals or not.
/// First come those where a word begins as typed, then those of `recent` (ids, the last one first), then as
/// they stand in the table.
std::vector<const Command*> search(std::span<const Command> table, std::string_view typed,
                                   std::span<const std::string> recent);

/// Whether every word of `typed` occurs in `text`, in capitals or not.
bool has_words(std::string_view text, std::string_view typed);

}  // namespace palimpsest
