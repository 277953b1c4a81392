#pragma once

#include <string>

#include "core/race/report.h"

namespace palimpsest {

/// A report as tables for a terminal: the times of every curve, what is missing and why, what the machine can
/// do, where curves cross.
std::string race_text(const RaceReport& report);

/// "gated_deltanet chunkwise cpu f32, T = 4096".
std::string in_words(const RaceEntry& entry);

}  // namespace palimpsest
