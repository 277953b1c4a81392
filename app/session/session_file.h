#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session/session.h"

namespace palimpsest {

/// What a session file holds.
struct SavedSession {
  std::string data;  // "capture:NAME", "preset:NAME?…" or the path of a file
  Choice choice;
  Place place;
};

inline constexpr std::uintmax_t most_session_bytes = std::uintmax_t{1} << 20;

/// The JSON of a session file.
std::string write_session(const SavedSession& session);

/// The session in a JSON text; what it does not say is standard. A relative path of data is looked up beside
/// `folder`. Throws InputError naming the field and what was expected.
SavedSession parse_session(const std::string& text, const std::filesystem::path& folder);

}  // namespace palimpsest
