#pragma once

#include <stdexcept>
#include <stop_token>
#include <string>

namespace palimpsest {

/// An error that a user causes: the message names the file, array, index or parameter and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad usage or bad input (exit status 2).
class InputError : public Error {
 public:
  using Error::Error;
};

/// This variant has no such form, device or precision; the message is the reason (exit status 3).
class Unsupported : public Error {
 public:
  using Error::Error;
};

/// The work was cancelled by whoever asked for it.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

/// Returns act(); the message of an InputError that it throws is prefixed with "name: ".
template <class Act>
auto naming_input(const std::string& name, Act act) try {
  return act();
} catch (const InputError& error) {
  throw InputError(name + ": " + error.what());
}

/// Runs `tried` and returns why it is not supported; empty if it is.
template <class Tried>
std::string why_unsupported(Tried tried) try {
  tried();
  return {};
} catch (const Unsupported& reason) {
  return reason.what();
}

/// Called by every long computation now and then. Where there are no threads, a page draws meanwhile. Null:
/// nothing is.
inline void (*let_others_go_on)() = nullptr;

/// While it exists, nothing goes on meanwhile: what is measured runs alone.
class Undisturbed {
 public:
  Undisturbed() {
    if (former_) let_others_go_on = nullptr;
  }
  ~Undisturbed() {
    if (former_) let_others_go_on = former_;
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  void (*former_)() = let_others_go_on;
};

inline bool is_asked_to_stop(const std::stop_token& stop) {
  if (let_others_go_on) let_others_go_on();
  return stop.stop_requested();
}

inline void stop_if_asked(const std::stop_token& stop) {
  if (is_asked_to_stop(stop)) throw Cancelled();
}

}  // namespace palimpsest
