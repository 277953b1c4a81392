#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"

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

  /// What `parse` makes of its text; nothing if there is no such file. One that cannot be read, or that
  /// `parse` refuses with an InputError, is set aside.
  template <class Parse>
  auto parsed(std::uintmax_t most_bytes, Parse parse) -> std::optional<decltype(parse(std::string()))> {
    std::optional<std::string> text;
    try {
      text = read(most_bytes);
    } catch (const InputError& error) {
      rename_aside(error.what());
    }
    if (!text) return std::nullopt;
    try {
      return parse(*text);
    } catch (const InputError& error) {
      set_aside(error.what());
      return std::nullopt;
    }
  }

  /// Gives it another name, for `reason`: it cannot be understood. problem() says so.
  void set_aside(const std::string& reason) { rename_aside(file_.string() + ": " + reason); }

  /// Says what the file is to hold from now on: asked for when it is written.
  void hold(std::function<std::string()> text) { text_ = std::move(text); }

  /// Writes what it is to hold if it does not yet; at most once a second, unless `at_once`. After a failed
  /// write nothing is tried again.
  void write(bool at_once);

  /// What went wrong since this was asked last, for a person; empty if nothing did.
  std::string problem();

 private:
  /// Gives it another name; `words` begin with the present one.
  void rename_aside(const std::string& words);

  std::filesystem::path file_;
  std::string what_;
  std::function<std::string()> text_;  // to be written; null: nothing is
  std::optional<std::chrono::steady_clock::time_point> last_write_;
  std::string problem_;
};

}  // namespace palimpsest
