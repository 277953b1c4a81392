#include "app/session/kept_places.h"

#include <utility>

#include "core/base/error.h"

namespace palimpsest {

std::filesystem::path kept_places_file() { return own_file("places.json"); }

KeptPlaces::KeptPlaces(std::filesystem::path file) : file_(std::move(file), "pinned places") {
  try {
    if (const auto text = file_.read(most_places_bytes)) seen_ = parse_places(*text);
  } catch (const InputError& error) {
    file_.set_aside(error.what());
  }
}

void KeptPlaces::keep(const std::vector<PinnedPlace>& now, bool at_once) {
  if (now != seen_) {
    seen_ = now;
    file_.hold([text = write_places(seen_)] { return text; });
  }
  file_.write(at_once);
}

}  // namespace palimpsest
