#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace palimpsest {

/// A file in the program's own folder in $XDG_CONFIG_HOME or in ~/.config; empty where neither is known.
std::filesystem::path own_file(const char* name);

/// A text that is kept between starts: read once, then written now and then.
class KeptFile {
 public:
  /// An empty path keeps nothing. `what` is in it, in words, many: "settings".
  KeptFile(std::filesystem::path file, std::string what) : file_(std::move(file)), what_(std::move(what)) {}

  /// Its text; null if there is no such file. Throws InputError where it cannot be read or is longer.
  std::optional<std::string> read(std::uintmax_t most_bytes) const;

  /// Gives it another name, for `reason`: it cannot be understood. problem() says so.
  void set_aside(const std::string& reason);

  /// Says what the file is to hold from now on: asked for when it is written.
  void hold(std::function<std::string()> text) { text_ = std::move(text); }

  /// Writes what it is to hold if it does not yet; at most once a second, unless `at_once`. After a failed
  /// write nothing is tried again.
  void write(bool at_once);

  /// What went wrong since this was asked last, for a person; empty if nothing did.
  std::string problem();

 private:
  std::filesystem::path file_;
  std::string what_;
  std::function<std::string()> text_;  // to be written; null: nothing is
  std::optional<std::chrono::steady_clock::time_point> last_write_;
  std::string problem_;
};

}  // namespace palimpsest
