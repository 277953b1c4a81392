#pragma once

#include "app/commands/command_line.h"
#include "app/window/ui_bench.h"

namespace palimpsest {

/// The commands that need OpenGL: the window itself, `render`, which draws it into a file without one, and
/// `bench`, which measures it.
WindowCommands window_commands();

/// `palimpsest bench ui` and `palimpsest bench start`.
Task add_window_bench(CommandOptions command, Console console);

/// Opens a window as a start without anything else does, and says when what was done.
StartTimes time_start();

}  // namespace palimpsest
