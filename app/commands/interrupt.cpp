#include "app/commands/interrupt.h"

#include <ctime>

namespace palimpsest {

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
