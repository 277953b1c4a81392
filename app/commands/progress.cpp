#include "app/commands/progress.h"

#include <fmt/format.h>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <utility>

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

namespace {

void show_until(const std::stop_token& stop, const Console& console,
                const std::function<std::string()>& words) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds moment(200);
  const Clock::time_point start = Clock::now();
  ProgressLine line(console);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any stopped;
  do {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    line.show(fmt::format("{}, {:.0f} s", words(), seconds));
    stopped.wait_for(lock, stop, moment, [&] { return stop.stop_requested(); });
  } while (!stop.stop_requested());
}

}  // namespace

WaitingLine::WaitingLine(const Console& console, std::function<std::string()> words) {
  if (!console.shows_progress) return;
  shower_ = std::jthread([&console, words = std::move(words)](const std::stop_token& stop) {
    show_until(stop, console, words);
  });
}

}  // namespace palimpsest
