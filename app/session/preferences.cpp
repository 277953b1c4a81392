#include "app/session/preferences.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/session/json_fields.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr std::uintmax_t most_preferences_bytes = std::uintmax_t{1} << 20;
/// Refuses a theme that there is not; of the lists the oldest are forgotten.
struct CheckedPreferences {
  void operator()(Preferences& read) const {
    if (read.theme != "dark" && read.theme != "light")
      throw InputError(fmt::format("\"theme\" is \"{}\"; expected dark or light", shown(read.theme)));
    if (read.recent_files.size() > most_recent_files) read.recent_files.resize(most_recent_files);
    if (read.closed_stories.size() > most_closed_stories) read.closed_stories.resize(most_closed_stories);
  }
};

}  // namespace

std::string write_preferences(const Preferences& preferences) {
  nlohmann::ordered_json written;
  write_fields(written, preferences, [](const auto& field) { return json_of(field); });
  return dumped(written, 2) + '\n';
}

Preferences parse_preferences(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object())
    throw InputError(fmt::format("it holds {}; expected an object", object.type_name()));
  Preferences preferences;
  read_fields(Fields(object, "the settings"), preferences, CheckedPreferences());
  return preferences;
}

std::filesystem::path settings_file() { return own_file("settings.json"); }

KeptPreferences::KeptPreferences(std::filesystem::path file) : file_(std::move(file), "settings") {
  kept_ = file_.parsed(most_preferences_bytes, parse_preferences).value_or(Preferences());
  seen_ = in_file_ = kept_;
}

void KeptPreferences::set_aside(const std::string& reason) {
  kept_ = seen_ = in_file_ = {};
  file_.set_aside(reason);
}

void KeptPreferences::keep(const Preferences& now, bool at_once) {
  bool has_changed = false;
  const auto take = [&](const FieldTraits&, auto& kept, const auto& seen, const auto& shown) {
    if (shown == seen || shown == kept) return;
    kept = shown;
    has_changed = true;
  };
  for_each_leaf(take, {}, kept_, seen_, now);
  seen_ = now;
  if (has_changed) file_.hold([this] { return joined(); });
  file_.write(at_once);
}

std::string KeptPreferences::joined() {
  try {
    if (const auto text = file_.read(most_preferences_bytes)) {
      const Preferences present = parse_preferences(*text);
      const auto join = [](const FieldTraits&, auto& kept, const auto& in_file, const auto& now) {
        if (kept == in_file) kept = now;
      };
      for_each_leaf(join, {}, kept_, in_file_, present);
    }
  } catch (const InputError&) {
    // There is nothing to take.
  }
  in_file_ = kept_;
  return write_preferences(kept_);
}

}  // namespace palimpsest
