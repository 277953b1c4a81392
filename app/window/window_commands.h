#pragma once

#include "app/commands/command_line.h"
#include "app/window/ui_bench.h"

namespace palimpsest {

class Application;
class Offscreen;

/// The commands that need OpenGL: the window itself, `render`, which draws it into a file without one, and
/// `bench`, which measures it.
WindowCommands window_commands();

/// `palimpsest bench ui` and `palimpsest bench start`.
Task add_window_bench(CommandOptions command, Console console);

/// Writes the handout that `palimpsest lesson print` asks for.
int print_lesson(const CommandOptions& options);

/// `palimpsest lesson`.
Task add_lesson_command(CommandOptions command, Console console);

/// Draws frames that are not shown; after each of them waits for the answers that it asked for.
void settle(Offscreen& offscreen, Application& application, int frames, float scale = 1);

/// Opens a window as a start without anything else does, and says when its steps were done: the program runs,
/// the place is computed, a window is open, its first frame is made, and seen.
std::vector<StartMoment> time_start();

}  // namespace palimpsest
