#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/commands/command_line.h"

namespace palimpsest {

/// `palimpsest verify --faults`: every fault by name, with what goes wrong.
int list_faults(const Console& console);

/// `palimpsest verify --fault NAME ...`: the forms of `variants` (none: all) with these faults ("all": every
/// one) in their equations. The status is that of a verification: failed checks if every faulty
/// form fails, as it should, done if one stays unnoticed or there is none. Writes the report to the file
/// `json` too. Throws InputError for an unknown name or a file that cannot be written, Cancelled on Ctrl+C.
int run_verify_faults(const std::vector<std::string>& faults, const std::vector<std::string>& variants,
                      const std::optional<std::string>& json, const Console& console);

}  // namespace palimpsest
