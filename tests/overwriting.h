#pragma once

#include "app/session/presets.h"
#include "app/session/session.h"

namespace palimpsest::testing {

/// One in which a fact is written over another.
inline constexpr const char* overwriting_capture = "capture:gated_deltanet_overwrite_l1";

/// Opens it at the first thing said to be in a jar: before that there is little to see.
inline void open_overwriting(Session& session) {
  session.open(open_capture(overwriting_capture), Place{.token = 6});
}

}  // namespace palimpsest::testing
