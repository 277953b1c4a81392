#include "app/session/preferences.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "app/session/json_fields.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/utf8.h"

namespace palimpsest {

namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 20;
constexpr int smallest_side = 16;
constexpr int largest_side = 16384;
constexpr std::chrono::seconds between_writes{1};

void read_side(const Fields& fields, const char* key, int& side) {
  Index number = side;
  fields.read(key, number, smallest_side, largest_side);
  side = static_cast<int>(number);
}

/// Calls `visit` with each field.
template <class Visit>
void for_each_field(Visit visit) {
  visit(&Preferences::theme);
  visit(&Preferences::scale);
  visit(&Preferences::width);
  visit(&Preferences::height);
  visit(&Preferences::layout);
  visit(&Preferences::own_workspaces);
  visit(&Preferences::recent_files);
}

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

std::string write_preferences(const Preferences& preferences) {
  const nlohmann::ordered_json written = {
      {"theme", preferences.theme},
      {"scale", preferences.scale},
      {"width", preferences.width},
      {"height", preferences.height},
      {"layout", preferences.layout},
      {"own_workspaces", preferences.own_workspaces},
      {"recent_files", preferences.recent_files},
  };
  return written.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

Preferences parse_preferences(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object())
    throw InputError(fmt::format("it holds {}; expected an object", object.type_name()));
  const Fields fields(object, "the settings");
  Preferences preferences;
  fields.read("theme", preferences.theme);
  if (preferences.theme != "dark" && preferences.theme != "light")
    throw InputError(fmt::format("\"theme\" is \"{}\"; expected dark or light", shown(preferences.theme)));
  fields.read("scale", preferences.scale);
  if (!(preferences.scale >= least_scale && preferences.scale <= most_scale)) {
    throw InputError(fmt::format("\"scale\" is {}; expected a number from {} to {}", preferences.scale,
                                 least_scale, most_scale));
  }
  read_side(fields, "width", preferences.width);
  read_side(fields, "height", preferences.height);
  fields.read("layout", preferences.layout);
  fields.read("own_workspaces", preferences.own_workspaces);
  fields.read("recent_files", preferences.recent_files);
  if (preferences.recent_files.size() > most_recent_files) preferences.recent_files.resize(most_recent_files);
  return preferences;
}

std::filesystem::path settings_file() {
  const auto folder = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value ? value : "");
  };
  const std::filesystem::path config = folder("XDG_CONFIG_HOME");  // one that is relative does not count
  const std::filesystem::path home = folder("HOME");
  if (config.is_absolute()) return config / "palimpsest" / "settings.json";
  if (home.is_absolute()) return home / ".config" / "palimpsest" / "settings.json";
  return {};
}

KeptPreferences::KeptPreferences(std::filesystem::path file) : file_(std::move(file)) {
  std::error_code unknown;
  if (file_.empty() || !std::filesystem::exists(file_, unknown)) return;
  try {
    kept_ = parse_preferences(read_text_file(file_, most_bytes));
  } catch (const InputError& error) {
    set_aside(error.what());
  }
  seen_ = in_file_ = kept_;
}

void KeptPreferences::set_aside(const std::string& reason) {
  kept_ = seen_ = in_file_ = {};
  const std::filesystem::path aside = name_aside(file_);
  const std::string name = file_.string();
  // Some reasons begin with the file's name.
  const std::string words = reason.starts_with(name) ? reason : fmt::format("{}: {}", name, reason);
  std::error_code error;
  std::filesystem::rename(file_, aside, error);
  if (error) {
    problem_ =
        fmt::format("{}; it cannot be set aside ({}), so settings are not kept", words, error.message());
    file_.clear();
  } else {
    problem_ = fmt::format("{}; it is set aside as {}", words, aside.filename().string());
  }
}

void KeptPreferences::keep(const Preferences& now, bool at_once) {
  for_each_field([&](auto field) {
    if (now.*field == seen_.*field || now.*field == kept_.*field) return;
    kept_.*field = now.*field;
    is_written_ = false;
  });
  seen_ = now;
  const auto time = std::chrono::steady_clock::now();
  if (is_written_ || file_.empty() || (!at_once && last_write_ && time - *last_write_ < between_writes))
    return;
  last_write_ = time;
  is_written_ = true;
  try {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error)
      throw InputError(
          fmt::format("{}: the folder cannot be made: {}", file_.parent_path().string(), error.message()));
    take_changes_of_others();
    const std::string text = write_preferences(kept_);
    replace_file(file_, std::as_bytes(std::span(text)));
    in_file_ = kept_;
  } catch (const InputError& error) {
    problem_ = fmt::format("{}; settings are not kept", error.what());
    file_.clear();
  }
}

void KeptPreferences::take_changes_of_others() {
  Preferences present;
  try {
    present = parse_preferences(read_text_file(file_, most_bytes));
  } catch (const InputError&) {
    return;  // there is nothing to take
  }
  for_each_field([&](auto field) {
    if (kept_.*field == in_file_.*field) kept_.*field = present.*field;
  });
}

std::string KeptPreferences::problem() { return std::exchange(problem_, {}); }

}  // namespace palimpsest
