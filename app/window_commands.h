#pragma once

#include "app/commands/command_line.h"

namespace palimpsest {

/// The commands that need OpenGL: the window itself, and `render`, which draws it into a file without one.
WindowCommands window_commands();

}  // namespace palimpsest
