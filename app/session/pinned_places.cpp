#include "app/session/pinned_places.h"

#include <fmt/format.h>

#include <utility>

#include "app/session/json_fields.h"
#include "app/session/state_text.h"

namespace palimpsest {

namespace {

constexpr Index places_version = 1;
constexpr const char* places_field = "palimpsest_places";

PinnedPlace read_place(const Fields& fields) {
  fields.require_known(field_names<PinnedPlace>());
  PinnedPlace place;
  read_fields(fields, place, [](const PinnedPlace&) {});
  if (!fields.has("state")) throw InputError("\"state\" is missing; expected a copied place (one string)");
  parse_state_string(place.state);
  return place;
}

}  // namespace

void PinnedPlaces::add(PinnedPlace place) {
  if (all_.size() >= most_pinned_places)
    throw InputError(fmt::format("{} places are pinned; there is no room for more", all_.size()));
  all_.insert(all_.begin() + (present_ + 1), std::move(place));
  ++present_;
}

const PinnedPlace* PinnedPlaces::after(int direction) const {
  const Index next = present_ + direction;
  return next >= 0 && next < std::ssize(all_) ? &all_[static_cast<std::size_t>(next)] : nullptr;
}

void PinnedPlaces::remove(Index index) {
  all_.erase(all_.begin() + index);
  if (index <= present_) --present_;
}

void PinnedPlaces::move(Index index, int direction) {
  const Index other = index + direction;
  if (other < 0 || other >= std::ssize(all_)) return;
  std::swap(all_[static_cast<std::size_t>(index)], all_[static_cast<std::size_t>(other)]);
  if (present_ == index)
    present_ = other;
  else if (present_ == other)
    present_ = index;
}

void PinnedPlaces::rename(Index index, std::string name) {
  all_[static_cast<std::size_t>(index)].name = std::move(name);
}

std::string write_places(const std::vector<PinnedPlace>& places) {
  nlohmann::ordered_json written = {{places_field, places_version},
                                    {"places", nlohmann::ordered_json::array()}};
  for (const PinnedPlace& place : places)
    write_fields(written["places"].emplace_back(), place, [](const auto& field) { return json_of(field); });
  return dumped(written, 2) + '\n';
}

std::vector<PinnedPlace> parse_places(const std::string& text) {
  const nlohmann::json object = parse_json(text);
  const Fields fields(object, "the file of places");
  fields.require_known({places_field, "places"});
  Index version = 0;
  fields.read(places_field, version);
  if (version != places_version)
    throw InputError(fmt::format("\"{}\" is {}; expected {}", places_field, version, places_version));
  std::vector<PinnedPlace> places;
  fields.read_each("places", "place", [&](const Fields& one) {
    if (places.size() >= most_pinned_places)
      throw InputError(fmt::format("there are more than {} places", most_pinned_places));
    try {
      places.push_back(read_place(one));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", one.name(), error.what()));
    }
  });
  return places;
}

std::filesystem::path kept_places_file() { return own_file("places.json"); }

KeptPlaces::KeptPlaces(std::filesystem::path file) : file_(std::move(file), "pinned places") {
  if (auto places = file_.parsed(most_places_bytes, parse_places)) seen_ = *std::move(places);
}

void KeptPlaces::keep(const std::vector<PinnedPlace>& now, bool at_once) {
  if (now != seen_) {
    seen_ = now;
    file_.hold([text = write_places(seen_)] { return text; });
  }
  file_.write(at_once);
}

}  // namespace palimpsest
