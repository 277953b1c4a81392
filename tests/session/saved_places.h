#pragma once

#include <string>

#include "app/session/session.h"
#include "tests/core/io/files.h"

namespace palimpsest::testing {

/// Comes back to a place that a file in this folder holds.
inline bool open_json(Session& session, const std::string& text, const TemporaryFolder& folder = {}) {
  write_file(folder / "place.json", text);
  return session.open_saved(folder / "place.json");
}

}  // namespace palimpsest::testing
