#include "app/session/kept.h"

#include <cstdlib>

#include "app/session/json_fields.h"

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

constexpr std::uintmax_t most_preferences_bytes = std::uintmax_t{1} << 20;
constexpr Index places_version = 1;
constexpr const char* places_field = "palimpsest_places";

PinnedPlace read_place(const Fields& fields) {
  fields.require_known(field_names<PinnedPlace>());
  PinnedPlace place;
  read_fields(fields, place, [](const PinnedPlace&) {});
  if (!fields.has("state")) refuse("\"state\" is missing; expected a copied place (one string)");
  parse_state_string(place.state);
  return place;
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

bool KeptFile::is_there() const {
  std::error_code unknown;
  return !file_.empty() && std::filesystem::exists(file_, unknown);
}

void KeptFile::set_aside(const std::string& words) {
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

void KeptFile::write(bool at_once, std::function<std::string()> text) {
  if (text) text_ = std::move(text);
  const auto time = std::chrono::steady_clock::now();
  if (!text_ || file_.empty() || (!at_once && last_write_ && time - *last_write_ < between_writes)) return;
  last_write_ = time;
  const std::string written = std::exchange(text_, nullptr)();
  try {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error) refuse("{}: the folder cannot be made: {}", file_.parent_path().string(), error.message());
    write_text(file_, written);
  } catch (const InputError& error) {
    problem_ = fmt::format("{}; {} are not kept", error.what(), what_);
    file_.clear();
  }
}

std::string write_preferences(const Preferences& preferences) { return dumped(preferences, 2) + '\n'; }

Preferences parse_preferences(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object()) refuse("it holds {}; expected an object", object.type_name());
  Preferences preferences;
  preferences.level = Level::all;
  read_fields(Fields(object, "the settings"), preferences, [](const Preferences&) {});
  // Of the lists the oldest are forgotten.
  std::vector<std::string>& files = preferences.recent_files;
  std::vector<std::string>& stories = preferences.closed_stories;
  files.resize(std::min(files.size(), most_recent_files));
  stories.resize(std::min(stories.size(), most_closed_stories));
  return preferences;
}

KeptPreferences::KeptPreferences(std::filesystem::path file) : KeptFile(std::move(file), "settings") {
  seen_ = in_file_ = kept_ = parsed(most_preferences_bytes, parse_preferences).value_or(Preferences());
}

void KeptPreferences::set_aside(const std::string& reason) {
  kept_ = seen_ = in_file_ = {};
  KeptFile::set_aside(fmt::format("{}: {}", file().string(), reason));
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
  if (!has_changed) return write(at_once);
  write(at_once, [this] { return joined(); });
}

std::string KeptPreferences::joined() {
  try {
    if (is_there()) {
      const Preferences present = parse_preferences(read_text_file(file(), most_preferences_bytes));
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

void PinnedPlaces::add(PinnedPlace place) {
  if (all_.size() >= most_pinned_places)
    refuse("{} places are pinned; there is no room for more", all_.size());
  all_.insert(all_.begin() + (present_ + 1), std::move(place));
  ++present_;
}

const PinnedPlace* PinnedPlaces::after(int direction) const {
  const Index next = present_ + direction;
  return next >= 0 && next < std::ssize(all_) ? &entry(all_, next) : nullptr;
}

void PinnedPlaces::remove(Index index) {
  all_.erase(all_.begin() + index);
  if (index <= present_) --present_;
}

void PinnedPlaces::move(Index index, int direction) {
  const Index other = index + direction;
  if (other < 0 || other >= std::ssize(all_)) return;
  std::swap(entry(all_, index), entry(all_, other));
  if (present_ == index)
    present_ = other;
  else if (present_ == other)
    present_ = index;
}

void PinnedPlaces::word(Index index, std::string PinnedPlace::*which, std::string words) {
  entry(all_, index).*which = std::move(words);
}

std::string write_places(const std::vector<PinnedPlace>& places) {
  return dumped({{places_field, places_version}, {"places", places}}, 2) + '\n';
}

std::vector<PinnedPlace> parse_places(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  const Fields fields(object, "the file of places");
  fields.require_known({places_field, "places"});
  Index version = 0;
  fields.read(places_field, version);
  if (version != places_version) refuse("\"{}\" is {}; expected {}", places_field, version, places_version);
  std::vector<PinnedPlace> places;
  fields.read_each("places", "place", [&](const Fields& one) {
    if (places.size() >= most_pinned_places) refuse("there are more than {} places", most_pinned_places);
    one.named([&](const Fields& named) { places.push_back(read_place(named)); });
  });
  return places;
}

KeptPlaces::KeptPlaces(std::filesystem::path file) : KeptFile(std::move(file), "pinned places") {
  seen_ = parsed(most_places_bytes, parse_places).value_or(std::vector<PinnedPlace>());
}

void KeptPlaces::keep(const std::vector<PinnedPlace>& now, bool at_once) {
  if (now == seen_) return write(at_once);
  seen_ = now;
  write(at_once, [text = write_places(now)] { return text; });
}

bool LastPlace::come_back(Session& session) {
  if (!is_there()) return false;
  if (session.open_saved(file())) session.wait_for_choice();
  if (session.message().empty() && session.computed()) {
    kept_ = session.state();
    return true;
  }
  problem_ = fmt::format("The last place cannot be opened: {}", session.message());
  return false;
}

void LastPlace::keep(const Session& session, bool at_once) {
  if (!session.computed() || session.state() == kept_) return write(at_once);
  kept_ = session.state();
  write(at_once, [&session] { return session.to_json() + '\n'; });
}

}  // namespace palimpsest
