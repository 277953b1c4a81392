#include "app/commands/progress_line.h"

#include <fmt/format.h>

#include <ostream>

#include "core/base/text.h"

namespace palimpsest {

bool ProgressLine::may_replace() {
  constexpr std::chrono::milliseconds moment(100);
  const Clock::time_point time = Clock::now();
  if (!console_.shows_progress || time - last_ < moment) return false;
  last_ = time;
  return true;
}

void ProgressLine::show(std::string_view words) {
  if (may_replace()) write(words);
}

void ProgressLine::show(Index done, Index total, std::string_view words) {
  if (!may_replace()) return;
  const double seconds = std::chrono::duration<double>(last_ - start_).count();
  write(fmt::format("{} of {} cases, {:.0f}/s, {}", done, total, static_cast<double>(done) / seconds, words));
}

void ProgressLine::write(std::string_view line) const {
  constexpr std::size_t narrow_terminal = 79;  // a line that wraps cannot be replaced
  if (console_.shows_progress)
    console_.error << "\r\x1b[K" << one_line(line.substr(0, narrow_terminal)) << std::flush;
}

}  // namespace palimpsest
