#pragma once

#include <chrono>
#include <string>
#include <string_view>

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

}  // namespace palimpsest
