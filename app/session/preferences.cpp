#include "app/session/preferences.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/session/json_fields.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 20;
constexpr int smallest_side = 16;
constexpr int largest_side = 16384;

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
  visit(&Preferences::closed_stories);
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
      {"closed_stories", preferences.closed_stories},
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
  fields.read("closed_stories", preferences.closed_stories);
  if (preferences.closed_stories.size() > most_closed_stories)
    preferences.closed_stories.resize(most_closed_stories);
  return preferences;
}

std::filesystem::path settings_file() { return own_file("settings.json"); }

KeptPreferences::KeptPreferences(std::filesystem::path file) : file_(std::move(file), "settings") {
  try {
    if (const auto text = file_.read(most_bytes)) kept_ = parse_preferences(*text);
  } catch (const InputError& error) {
    set_aside(error.what());
  }
  seen_ = in_file_ = kept_;
}

void KeptPreferences::set_aside(const std::string& reason) {
  kept_ = seen_ = in_file_ = {};
  file_.set_aside(reason);
}

void KeptPreferences::keep(const Preferences& now, bool at_once) {
  bool has_changed = false;
  for_each_field([&](auto field) {
    if (now.*field == seen_.*field || now.*field == kept_.*field) return;
    kept_.*field = now.*field;
    has_changed = true;
  });
  seen_ = now;
  if (has_changed) file_.hold([this] { return joined(); });
  file_.write(at_once);
}

std::string KeptPreferences::joined() {
  try {
    if (const auto text = file_.read(most_bytes)) {
      const Preferences present = parse_preferences(*text);
      for_each_field([&](auto field) {
        if (kept_.*field == in_file_.*field) kept_.*field = present.*field;
      });
    }
  } catch (const InputError&) {
    // There is nothing to take.
  }
  in_file_ = kept_;
  return write_preferences(kept_);
}

}  // namespace palimpsest
