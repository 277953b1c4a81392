#pragma once

#include <chrono>

#include "app/session/session.h"
#include "core/io/file.h"

namespace palimpsest {

/// A file in the program's own folder in $XDG_CONFIG_HOME or in ~/.config; empty where neither is known.
std::filesystem::path own_file(const char* name);

/// A text that is kept between starts: read once, then written at most once a second. An empty path keeps
/// nothing. A file that cannot be parsed is renamed.
class KeptFile {
 public:
  /// The problem since the last call, for the user; empty if there was none. After a failed write no other is
  /// tried.
  std::string problem() { return std::exchange(problem_, {}); }

  /// Whether there is such a file.
  bool is_there() const;

 protected:
  /// `what` describes its content, in the plural: "settings".
  KeptFile(std::filesystem::path file, const char* what) : file_(std::move(file)), what_(what) {}

  const std::filesystem::path& file() const { return file_; }

  /// What `parse` makes of its text; nothing if there is no such file. One that cannot be read, or that
  /// `parse` refuses with an InputError, is set aside.
  template <class Parse>
  auto parsed(std::uintmax_t most_bytes, Parse parse) -> std::optional<decltype(parse(std::string()))> {
    if (!is_there()) return std::nullopt;
    std::string named = {};  // the words of what cannot be read name it
    try {
      const std::string text = read_text_file(file_, most_bytes);
      named = file_.string() + ": ";
      return parse(text);
    } catch (const InputError& error) {
      set_aside(named + error.what());
      return std::nullopt;
    }
  }

  /// Gives it another name; `words` begin with the present one, and say why.
  void set_aside(const std::string& words);

  /// Writes the pending text, unless the last write was less than a second ago and `at_once` is not set.
  /// `text`, if any, becomes the pending text; it is called at the time of writing.
  void write(bool at_once, std::function<std::string()> text = {});

  std::string problem_;

 private:
  std::filesystem::path file_;
  const char* what_;
  std::function<std::string()> text_;  // to be written; null: nothing is
  std::optional<std::chrono::steady_clock::time_point> last_write_;
};

inline constexpr std::size_t most_recent_files = 12;
inline constexpr std::size_t most_closed_stories = 64;
inline constexpr double least_scale = 0.5;
inline constexpr double most_scale = 4;
inline constexpr FieldTraits window_side = {.least = 16, .most = 16384};

/// The settings of the window that are kept between starts; nothing about computations.
struct Preferences {
  Theme theme = Theme::dark;
  Level level = Level::story;  // of a first start; settings that name none show all
  double scale = 1;            // how much larger everything is drawn than is usual on the monitor
  int width = 1600;            // of the window, in screen coordinates
  int height = 1000;
  std::string layout;                       // Dear ImGui's text of where the panels lie
  std::vector<std::string> own_workspaces;  // whose panels the user moved

  std::vector<std::string> recent_files;                    // paths of the user's data, the last one first
  std::vector<std::string> closed_stories;                  // data whose story was hidden, the last one first
  std::map<std::string, std::string, std::less<>> lessons;  // how far they were gone through, by their names

  static constexpr std::tuple fields = {
      Field{"theme", &Preferences::theme},
      Field{"level", &Preferences::level},
      Field{"scale", &Preferences::scale, {.least = least_scale, .most = most_scale}},
      Field{"width", &Preferences::width, window_side},
      Field{"height", &Preferences::height, window_side},
      Field{"layout", &Preferences::layout},
      Field{"own_workspaces", &Preferences::own_workspaces},
      Field{"recent_files", &Preferences::recent_files},
      Field{"closed_stories", &Preferences::closed_stories},
      Field{"lessons", &Preferences::lessons}};
  bool operator==(const Preferences&) const = default;
};

/// The JSON of a settings file.
std::string write_preferences(const Preferences& preferences);

/// The preferences in a JSON text; absent fields have defaults, unknown ones are ignored. Throws InputError
/// naming the field and what was expected.
Preferences parse_preferences(const std::string& text);

/// Preferences in a file, which is read at the start and written when they change.
class KeptPreferences : public KeptFile {
 public:
  explicit KeptPreferences(std::filesystem::path file);

  /// What the file says.
  const Preferences& read() const { return kept_; }

  /// Treats the file as broken: renames it and restores the defaults.
  void set_aside(const std::string& reason);

  /// Sets the preferences that a start shows, which the command line may change. Later only differences from
  /// them are kept.
  void begin_with(const Preferences& shown) { seen_ = shown; }

  /// Keeps what has changed, together with what another window has written meanwhile.
  void keep(const Preferences& now, bool at_once = false);

 private:
  /// The text to write, with the fields of the file that this window has not changed itself.
  std::string joined();

  Preferences kept_;     // what the file is to hold
  Preferences in_file_;  // what it held when this window last read or wrote it
  Preferences seen_;     // what was shown last
};

/// A state to return to, with a name.
struct PinnedPlace {
  std::string name;
  std::string state;         // as state_string writes it
  std::string caption = {};  // shown on the slide

  static constexpr std::tuple fields = {Field{"name", &PinnedPlace::name},
                                        Field{"state", &PinnedPlace::state},
                                        Field{"caption", &PinnedPlace::caption}};
  bool operator==(const PinnedPlace&) const = default;
};

inline constexpr std::size_t most_pinned_places = 500;
inline constexpr std::uintmax_t most_places_bytes = std::uintmax_t{16} << 20;

/// Pinned places in order, and the current one.
class PinnedPlaces {
 public:
  PinnedPlaces() = default;
  explicit PinnedPlaces(std::vector<PinnedPlace> all) : all_(std::move(all)) {}

  const std::vector<PinnedPlace>& all() const { return all_; }
  /// The index of the place gone to last; -1 before the first.
  Index present() const { return present_; }

  /// Adds one after the present one, and stands there. Throws InputError where there are too many.
  void add(PinnedPlace place);

  /// The place to go to, forwards (+1) or backwards (-1); null where none follows.
  const PinnedPlace* after(int direction) const;

  void go_to(Index index) { present_ = index; }

  /// Takes one out; stands at the one before it if it was the present one.
  void remove(Index index);

  /// Moves one before or after its neighbour; at the ends it stays.
  void move(Index index, int direction);

  /// Sets its name or its caption.
  void word(Index index, std::string PinnedPlace::*which, std::string words);

 private:
  std::vector<PinnedPlace> all_;
  Index present_ = -1;
};

/// The places as the JSON of a file: {"palimpsest_places": 1, "places": [{"name": ..., "state": ...}, ...]}.
std::string write_places(const std::vector<PinnedPlace>& places);

/// The places in such a text. Throws InputError naming the place, its field and what was expected; also where
/// a state cannot be read.
std::vector<PinnedPlace> parse_places(const std::string& text);

/// The pinned places between starts, in a file like those that a person saves.
class KeptPlaces : public KeptFile {
 public:
  explicit KeptPlaces(std::filesystem::path file);

  /// What the file says.
  const std::vector<PinnedPlace>& read() const { return seen_; }

  void keep(const std::vector<PinnedPlace>& now, bool at_once = false);

 private:
  std::vector<PinnedPlace> seen_;
};

/// The place at which the program ended: a separate session file, so that a broken one does not affect the
/// settings.
class LastPlace : public KeptFile {
 public:
  explicit LastPlace(std::filesystem::path file) : KeptFile(std::move(file), "last places") {}

  /// Comes back to what is kept and computes it. Returns whether that worked; problem() says why not. Where
  /// nothing is kept there is no problem.
  bool come_back(Session& session);

  /// Keeps where `session` is, if that has changed. Nothing is kept until data are open.
  void keep(const Session& session, bool at_once = false);

 private:
  SessionState kept_;
};

}  // namespace palimpsest
