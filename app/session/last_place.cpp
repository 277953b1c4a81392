#include "app/session/last_place.h"

#include <fmt/format.h>

#include <utility>

namespace palimpsest {

std::filesystem::path last_place_file() { return own_file("last_place.json"); }

bool LastPlace::come_back(Session& session) {
  std::error_code unknown;
  if (path_.empty() || !std::filesystem::exists(path_, unknown)) return false;
  if (session.open_saved(path_)) session.wait_for_choice();
  if (session.message().empty() && session.computed()) {
    kept_ = session.state();
    return true;
  }
  problem_ = fmt::format("The place where it ended last time cannot be opened: {}", session.message());
  return false;
}

void LastPlace::keep(const Session& session, bool at_once) {
  if (session.computed() && session.state() != kept_) {
    kept_ = session.state();
    file_.hold([&session] { return session.to_json() + '\n'; });
  }
  file_.write(at_once);
}

std::string LastPlace::problem() {
  std::string problem = std::exchange(problem_, {});
  return problem.empty() ? file_.problem() : problem;
}

}  // namespace palimpsest
