#include "app/session/kept_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"

namespace palimpsest {

namespace {

constexpr std::chrono::seconds between_writes{1};

/// A name beside `file` that is free: with ".broken", or ".broken-2" and so on.
std::filesystem::path name_aside(const std::filesystem::path& file) {
  std::filesystem::path aside = file;
  aside += ".broken";
  std::error_code unknown;
  for (int number = 2; std::filesystem::exists(aside, unknown); ++number) {
    aside = file;
    aside += fmt::format(".broken-{}", number);
  }
  return aside;
}

}  // namespace

std::filesystem::path own_file(const char* name) {
  const auto folder = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value ? value : "");
  };
  const std::filesystem::path config = folder("XDG_CONFIG_HOME");  // one that is relative does not count
  const std::filesystem::path home = folder("HOME");
  if (config.is_absolute()) return config / "palimpsest" / name;
  if (home.is_absolute()) return home / ".config" / "palimpsest" / name;
  return {};
}

std::optional<std::string> KeptFile::read(std::uintmax_t most_bytes) const {
  std::error_code unknown;
  if (file_.empty() || !std::filesystem::exists(file_, unknown)) return std::nullopt;
  return read_text_file(file_, most_bytes);
}

void KeptFile::rename_aside(const std::string& words) {
  text_ = nullptr;
  const std::filesystem::path aside = name_aside(file_);
  std::error_code error;
  std::filesystem::rename(file_, aside, error);
  if (error) {
    problem_ =
        fmt::format("{}; it cannot be set aside ({}), so {} are not kept", words, error.message(), what_);
    file_.clear();
  } else {
    problem_ = fmt::format("{}; it is set aside as {}", words, aside.filename().string());
  }
}

void KeptFile::write(bool at_once) {
  const auto time = std::chrono::steady_clock::now();
  if (!text_ || file_.empty() || (!at_once && last_write_ && time - *last_write_ < between_writes)) return;
  last_write_ = time;
  const std::string text = std::exchange(text_, nullptr)();
  try {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error)
      throw InputError(
          fmt::format("{}: the folder cannot be made: {}", file_.parent_path().string(), error.message()));
    replace_file(file_, std::as_bytes(std::span(text)));
  } catch (const InputError& error) {
    problem_ = fmt::format("{}; {} are not kept", error.what(), what_);
    file_.clear();
  }
}

std::string KeptFile::problem() { return std::exchange(problem_, {}); }

}  // namespace palimpsest
