#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/session/fields.h"
#include "app/session/kept_file.h"
#include "core/base/matrix.h"

namespace palimpsest {

/// A state to come back to, with a name for people.
struct PinnedPlace {
  std::string name;
  std::string state;  // as state_string writes it

  template <class Visit>
  static void fields(Visit&& visit) {
    visit(Field{"name"}, &PinnedPlace::name);
    visit(Field{"state"}, &PinnedPlace::state);
  }
  bool operator==(const PinnedPlace&) const = default;
};

inline constexpr std::size_t most_pinned_places = 500;
inline constexpr std::uintmax_t most_places_bytes = std::uintmax_t{16} << 20;

/// Places in the order in which they are walked through, and the one where somebody stands.
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

  /// Stands at the one with this index.
  void go_to(Index index) { present_ = index; }

  /// Takes one out; stands at the one before it if it was the present one.
  void remove(Index index);

  /// Moves one before or after its neighbour; at the ends it stays.
  void move(Index index, int direction);

  void rename(Index index, std::string name);

 private:
  std::vector<PinnedPlace> all_;
  Index present_ = -1;
};

/// The places as the JSON of a file: {"palimpsest_places": 1, "places": [{"name": ..., "state": ...}, ...]}.
std::string write_places(const std::vector<PinnedPlace>& places);

/// The places in such a text. Throws InputError naming the place, its field and what was expected; also where
/// a state cannot be read.
std::vector<PinnedPlace> parse_places(const std::string& text);

/// palimpsest/places.json beside the settings; empty where their folder is not known.
std::filesystem::path kept_places_file();

/// The pinned places between starts, in a file like those that a person saves.
class KeptPlaces {
 public:
  /// Reads `file`, if there is one. A file that cannot be understood is set aside; problem() says so. An
  /// empty path keeps nothing.
  explicit KeptPlaces(std::filesystem::path file);

  /// What the file says.
  const std::vector<PinnedPlace>& read() const { return seen_; }

  /// Keeps `now` if it has changed. Writes at most once a second, unless `at_once`.
  void keep(const std::vector<PinnedPlace>& now, bool at_once = false);

  /// What went wrong since this was asked last, for a person; empty if nothing did.
  std::string problem() { return file_.problem(); }

 private:
  KeptFile file_;
  std::vector<PinnedPlace> seen_;
};

}  // namespace palimpsest
