#pragma once

#include <functional>

#include "app/commands/command_line.h"
#include "app/window/ui_bench.h"

namespace palimpsest {

/// `palimpsest bench ui` and `palimpsest bench start`, which opens a window by `start`.
CliCommand bench_command(std::function<StartTimes()> start);

}  // namespace palimpsest
