#pragma once

#include <string>
#include <vector>

#include "app/commands/command_line.h"

namespace palimpsest {

/// `palimpsest verify --faults`: every fault by name, with what goes wrong.
int list_faults(const Console& console);

/// `palimpsest verify --fault NAME ...`: the forms of `variants` (none: all) with these faults ("all": every
/// one) in their equations. Fails, as verification should, if any of them fails; where a fault stays
/// unnoticed the report says so. Writes the report to the file `json` too unless that is empty. Throws
/// InputError for an unknown name or a file that cannot be written, Cancelled on Ctrl+C.
int run_verify_faults(const std::vector<std::string>& faults, const std::vector<std::string>& variants,
                      const std::string& json, const Console& console);

}  // namespace palimpsest
