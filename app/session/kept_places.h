#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/session/kept_file.h"
#include "app/session/pinned_places.h"

namespace palimpsest {

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
