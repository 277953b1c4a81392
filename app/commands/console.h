#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "app/commands/command_line.h"
#include "core/base/matrix.h"

namespace palimpsest {

/// How far a command is: one line on a terminal that the next one replaces, and that goes in the end.
class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : console_(console) {}
  ~ProgressLine() { write(""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// "12 of 40 cases, 30/s, " and `words`; not more often than it can be read.
  void show(Index done, Index total, std::string_view words);

  /// `words` alone, as often.
  void show(std::string_view words);

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether the last line has been there long enough.
  bool may_replace();

  void write(std::string_view line) const;

  const Console& console_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

/// How long a command has been at something, on a line that goes in the end (progress_line.h): for work that
/// does not come back on the way to say where it is.
class WaitingLine {
 public:
  /// "4 heads of 1024 tokens on cpu, 12 s": `words` are asked for again and again, from another thread.
  WaitingLine(const Console& console, std::function<std::string()> words);

 private:
  std::jthread shower_;
};

/// While it lives, the first Ctrl+C or SIGTERM asks for a stop in the place of ending the program; a second
/// one ends it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  sigset_t former_mask_{};
  std::jthread watcher_;
};

}  // namespace palimpsest
