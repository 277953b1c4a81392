#pragma once

#include <filesystem>
#include <string>

#include "core/race/report.h"

namespace palimpsest {

/// A report as JSON (docs/bench.md): all that it holds, and what follows from it for other readers.
std::string race_json(const RaceReport& report);

/// The points of a report as CSV, one a line, with a line of names first.
std::string race_csv(const RaceReport& report);

/// The report in JSON. Throws InputError naming the point, the field and what is expected.
RaceReport parse_race(const std::string& text);

/// The report in a file. Throws InputError naming it, too.
RaceReport read_race(const std::filesystem::path& file);

}  // namespace palimpsest
