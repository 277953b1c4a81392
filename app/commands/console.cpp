#include "app/commands/console.h"

#include <fmt/format.h>
#include <chrono>
#include <condition_variable>
#include <ctime>
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

namespace {

/// Ctrl+C, and what `kill`, `timeout` and a machine that is shut down send.
sigset_t only_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

/// Hardly anything may be called in a signal handler, so the signal is blocked and a thread waits for it.
void watch(const std::stop_token& done, std::stop_source source) {
  const sigset_t signals = only_interrupts();
  const timespec moment{0, 50'000'000};
  while (!done.stop_requested()) {
    if (sigtimedwait(&signals, nullptr, &moment) < 0) continue;
    source.request_stop();
    break;
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second one reaches the program through this thread
  while (!done.stop_requested()) nanosleep(&moment, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t signals = only_interrupts();
  pthread_sigmask(SIG_BLOCK, &signals, &former_mask_);  // threads started from here on inherit it
  watcher_ = std::jthread([source = source_](const std::stop_token& done) { watch(done, source); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

}  // namespace palimpsest
