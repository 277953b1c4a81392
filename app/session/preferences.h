#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session/fields.h"
#include "app/session/kept_file.h"

namespace palimpsest {

inline constexpr std::size_t most_recent_files = 12;
inline constexpr std::size_t most_closed_stories = 64;

inline constexpr double least_scale = 0.5;
inline constexpr double most_scale = 4;
inline constexpr int smallest_window = 16;
inline constexpr int largest_window = 16384;

/// What is kept of a person's window between starts; nothing about what is computed.
struct Preferences {
  std::string theme = "dark";  // or "light"
  double scale = 1;            // how much larger everything is drawn than is usual on the monitor
  int width = 1600;            // of the window, in screen coordinates
  int height = 1000;
  std::string layout;                       // Dear ImGui's text of where the panels lie
  std::vector<std::string> own_workspaces;  // whose panels somebody moved

  std::vector<std::string> recent_files;    // paths of own data, the last one first
  std::vector<std::string> closed_stories;  // data whose story was put away, the last one first

  template <class Visit>
  static void fields(Visit&& visit) {
    constexpr FieldTraits side = {.least = smallest_window, .most = largest_window};
    visit(Field{"theme"}, &Preferences::theme);
    visit(Field{"scale", {.least = least_scale, .most = most_scale}}, &Preferences::scale);
    visit(Field{"width", side}, &Preferences::width);
    visit(Field{"height", side}, &Preferences::height);
    visit(Field{"layout"}, &Preferences::layout);
    visit(Field{"own_workspaces"}, &Preferences::own_workspaces);
    visit(Field{"recent_files"}, &Preferences::recent_files);
    visit(Field{"closed_stories"}, &Preferences::closed_stories);
  }
  bool operator==(const Preferences&) const = default;
};

/// The JSON of a settings file.
std::string write_preferences(const Preferences& preferences);

/// The preferences in a JSON text; what it does not say is standard, and what it says beyond them is left
/// out. Throws InputError naming the field and what was expected.
Preferences parse_preferences(const std::string& text);

/// palimpsest/settings.json in $XDG_CONFIG_HOME or in ~/.config; empty where neither is known.
std::filesystem::path settings_file();

/// Preferences in a file, which is read at the start and written when they change.
class KeptPreferences {
 public:
  /// Reads `file`, if there is one. A file that cannot be understood is set aside; problem() says so. An
  /// empty path keeps nothing.
  explicit KeptPreferences(std::filesystem::path file);

  /// What the file says.
  const Preferences& read() const { return kept_; }

  /// Takes what was read for broken: sets the file aside and goes back to what is standard.
  void set_aside(const std::string& reason);

  /// Says what a start makes of what was read, where the command line says otherwise. Only what differs from
  /// it is kept later.
  void begin_with(const Preferences& shown) { seen_ = shown; }

  /// Keeps what has changed, beside what another window has written meanwhile. Writes at most once a second,
  /// unless `at_once`.
  void keep(const Preferences& now, bool at_once = false);

  /// What went wrong since this was asked last, for a person; empty if nothing did. After a failed write
  /// nothing is tried again.
  std::string problem() { return file_.problem(); }

 private:
  /// The text to write, with the fields of the file that this window has not changed itself.
  std::string joined();

  KeptFile file_;
  Preferences kept_;     // what the file is to hold
  Preferences in_file_;  // what it held when this window last read or wrote it
  Preferences seen_;     // what was shown last
};

}  // namespace palimpsest
