#pragma once

#include <filesystem>
#include <string>

#include "app/session/kept_file.h"
#include "app/session/session.h"

namespace palimpsest {

/// last_place.json beside the settings; empty where they are nowhere.
std::filesystem::path last_place_file();

/// Where somebody was when the program ended: a session file of its own, so that what is wrong with it harms
/// no settings.
class LastPlace {
 public:
  /// An empty path keeps nothing.
  explicit LastPlace(const std::filesystem::path& file) : path_(file), file_(file, "last places") {}

  /// Comes back to what is kept and computes it. Returns whether that worked; problem() says why not. Where
  /// nothing is kept there is no problem.
  bool come_back(Session& session);

  /// Keeps where `session` is, if that has changed: at most once a second, unless `at_once`. Nothing is kept
  /// until data are open.
  void keep(const Session& session, bool at_once = false);

  /// What went wrong since this was asked last, for a person; empty if nothing did. After a failed write
  /// nothing is tried again.
  std::string problem();

 private:
  std::filesystem::path path_;
  KeptFile file_;
  SessionState kept_;
  std::string problem_;
};

}  // namespace palimpsest
