#pragma once

#include <optional>
#include <string>

#include "app/commands/command_line.h"
#include "core/proof/verify_faults.h"

namespace palimpsest {

/// `palimpsest verify --faults`: every fault by name, with what goes wrong.
int list_faults(const Console& console);

/// `palimpsest verify --fault NAME ...`: the forms of the plan with its faults ("all": every one) in their
/// equations. The status is that of a verification: failed checks if every faulty form fails, as it should,
/// done if one stays unnoticed or there is none. Writes the report to the file `json` too. Throws InputError
/// for an unknown name or a file that cannot be written, Unsupported for another precision than f64 or
/// another device than the processor, Cancelled on Ctrl+C.
int run_verify_faults(FaultPlan plan, const std::optional<std::string>& json, const Console& console);

}  // namespace palimpsest
