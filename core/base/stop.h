#pragma once

#include <stop_token>

#include "core/base/error.h"

namespace palimpsest {

/// Throws Cancelled where somebody has asked to stop.
inline void stop_if_asked(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace palimpsest
