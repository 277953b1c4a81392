#pragma once

#include <string>

#include "core/race/report.h"

namespace palimpsest {

/// The processor as the kernel calls it.
std::string processor_name();

/// "2026-11-22 09:30 UTC".
std::string present_date();

/// This machine. `program` is what it runs, in words.
RaceMachine this_machine(std::string program);

}  // namespace palimpsest
