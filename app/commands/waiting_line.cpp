#include "app/commands/waiting_line.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "app/commands/progress_line.h"

namespace palimpsest {

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
