#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/base/refuse.h"

namespace palimpsest {

/// Throws InputError: "path: problem".
template <class... Arguments>
[[noreturn]] void refuse_file(const std::filesystem::path& path, fmt::format_string<Arguments...> problem,
                              Arguments&&... arguments) {
  refuse("{}: {}", path.empty() ? "\"\"" : path.string(),
         fmt::format(problem, std::forward<Arguments>(arguments)...));
}

/// Throws InputError naming `path` unless it is a regular file that can be opened: reading anything else may
/// never end.
void require_readable_file(const std::filesystem::path& path);

/// The text of a regular file of at most `most_bytes`. Throws InputError naming it.
std::string read_text_file(const std::filesystem::path& path, std::uintmax_t most_bytes);

/// `count` bytes of a regular file, from the byte `first` on. Throws InputError naming it if there are fewer.
std::vector<std::byte> read_bytes(const std::filesystem::path& path, std::uint64_t first,
                                  std::uint64_t count);

/// The first bytes of a file, at most `count`; fewer where it is shorter or cannot be read.
std::string file_start(const std::filesystem::path& path, std::size_t count);

/// The files of a folder whose names end in `ending`, by name. Throws InputError where it cannot be read.
std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder, std::string_view ending);

/// The file that `path` leads to, whether it exists or not, so that a link is followed and not replaced.
/// Throws InputError where nothing can be written.
std::filesystem::path writable_target(const std::filesystem::path& path);

/// Writes a file, which replaces an existing one only once it is complete. Throws InputError naming
/// it and the reason.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same of a text.
inline void write_text(const std::filesystem::path& path, std::string_view text) {
  replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace palimpsest
