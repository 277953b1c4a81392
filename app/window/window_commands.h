#pragma once

#include <functional>

#include "app/commands/command_line.h"
#include "app/window/ui_bench.h"

namespace palimpsest {

/// The commands that need OpenGL: the window itself, `render`, which draws it into a file without one, and
/// `bench`, which measures it.
WindowCommands window_commands();

/// `palimpsest bench ui` and `palimpsest bench start`, which opens a window by `start`.
CliCommand bench_command(std::function<StartTimes()> start);

}  // namespace palimpsest
