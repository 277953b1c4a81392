#pragma once

#include "app/commands/command_line.h"

namespace palimpsest {

/// The commands that need OpenGL: the window itself, `render`, which draws it into a file without one, and
/// `bench`, which measures it.
WindowCommands window_commands();

}  // namespace palimpsest
