#pragma once

#include "app/commands/command_line.h"

namespace palimpsest {

/// `palimpsest bench ui`: what a frame of the window takes.
CliCommand bench_command();

}  // namespace palimpsest
