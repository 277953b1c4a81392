#pragma once

#include "app/commands/command_line.h"

namespace palimpsest {

/// `palimpsest run`: one variant on the arrays of a file.
Task add_run(CLI::App& command, Console console);

/// `palimpsest verify`: every form, device and precision against the f64 recurrence.
Task add_verify(CLI::App& command, Console console);

/// `palimpsest bench`: how fast forms are. `window` adds the subcommands that need a window, and pictures;
/// where it has none, they say so.
Task add_bench(CLI::App& command, Console console, const WindowCommands& window);

/// `palimpsest show`: the numbers of a view.
Task add_show(CLI::App& command, Console console);

/// `palimpsest info`: what there is, and why something is missing.
Task add_info(CLI::App& command, Console console);

}  // namespace palimpsest
