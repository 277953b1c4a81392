#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/session/state.h"

namespace palimpsest {

inline constexpr std::uintmax_t most_session_bytes = std::uintmax_t{1} << 20;

/// A state as the JSON of a session file.
std::string write_state(const SessionState& state, std::span<const EditKind> table = edit_kinds());

/// The state in a JSON text; what it does not say is standard. Takes the files of earlier versions too. A
/// relative path of data is looked up beside `folder`. Throws InputError naming the field and what was
/// expected.
SessionState parse_state(const std::string& text, const std::filesystem::path& folder = {},
                         std::span<const EditKind> table = edit_kinds());

/// What a text that this program has written holds.
enum class SavedKind { place, pinned_places, race, other };

/// Of JSON, by the field that only such a file has.
SavedKind saved_kind(const std::string& text);

/// A state as one short string of letters, digits, - and _, for a command line, a link or the clipboard: what
/// differs from the standard, as JSON in base64url (RFC 4648).
std::string state_string(const SessionState& state);

/// The state in such a string. Throws InputError.
SessionState parse_state_string(const std::string& text);

}  // namespace palimpsest
