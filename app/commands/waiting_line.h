#pragma once

#include <functional>
#include <string>
#include <thread>

#include "app/commands/command_line.h"

namespace palimpsest {

/// How long a command has been at something, on a line that goes in the end (progress_line.h): for work that
/// does not come back on the way to say where it is.
class WaitingLine {
 public:
  /// "4 heads of 1024 tokens on cpu, 12 s": `words` are asked for again and again, from another thread.
  WaitingLine(const Console& console, std::function<std::string()> words);

 private:
  std::jthread shower_;
};

}  // namespace palimpsest
