#pragma once

#include <stdexcept>
#include <stop_token>

namespace palimpsest {

/// Anything a person can cause: the message names the file, array, index or parameter and what was expected.
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

/// Throws Cancelled where somebody has asked to stop.
inline void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace palimpsest
