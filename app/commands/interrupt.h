#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace palimpsest {

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
