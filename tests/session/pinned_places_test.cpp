// Pinned places between starts: what is pinned is there again, what cannot be read is set aside.

#include "app/session/kept.h"

#include "app/session/state.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

PinnedPlace place(const std::string& name, Index token) {
  SessionState state;
  state.data = "preset:copy?T=32&K=16&V=16&seed=1";
  state.place.token = token;
  return {name, state_string(state)};
}

std::vector<std::string> names(const PinnedPlaces& places) {
  std::vector<std::string> all;
  for (const PinnedPlace& one : places.all()) all.push_back(one.name);
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("places are walked through in order, both ways, and no further", "[places]") {
  PinnedPlaces places({place("one", 1), place("two", 2), place("three", 3)});
  CHECK(places.present() == -1);
  CHECK(places.after(-1) == nullptr);
  for (const Index expected : {0, 1, 2}) {
    REQUIRE(places.after(1) == &places.all()[static_cast<std::size_t>(expected)]);
    places.go_to(expected);
  }
  CHECK(places.after(1) == nullptr);
  CHECK(places.after(-1)->name == "two");
  CHECK(PinnedPlaces().after(1) == nullptr);
}

TEST_CASE("a place is added after the present one, moved, renamed and taken out", "[places]") {
  PinnedPlaces places;
  places.add(place("one", 1));
  places.add(place("two", 2));
  places.go_to(0);
  places.add(place("between", 3));
  CHECK(names(places) == Names{"one", "between", "two"});
  CHECK(places.present() == 1);
  places.move(1, -1);
  CHECK(names(places) == Names{"between", "one", "two"});
  CHECK(places.present() == 0);
  places.move(0, -1);  // it is the first already
  CHECK(places.present() == 0);
  places.move(1, -1);  // the other way round
  CHECK(places.present() == 1);
  places.rename(2, "last");
  places.remove(2);
  CHECK(names(places) == Names{"one", "between"});
  CHECK(places.present() == 1);
  places.remove(0);
  CHECK(places.present() == 0);
  places.remove(0);
  CHECK(places.present() == -1);
  CHECK(places.all().empty());

  PinnedPlaces full(std::vector<PinnedPlace>(most_pinned_places, place("same", 0)));
  CHECK_THROWS_WITH(full.add(place("more", 0)), says("there is no room for more"));
}

TEST_CASE("places come back from their file", "[places]") {
  const std::vector<PinnedPlace> some = {place("the red jar → drum", 6), place("", 7)};
  const std::string text = write_places(some);
  CHECK(saved_kind(text) == SavedKind::pinned_places);
  CHECK(parse_places(text) == some);
  CHECK(parse_places(write_places({})).empty());
  CHECK(saved_kind(write_state(SessionState())) == SavedKind::place);
  CHECK(saved_kind("not JSON") == SavedKind::other);
  CHECK(saved_kind("[1]") == SavedKind::other);
}

TEST_CASE("a file of places that is wrong is refused by place and field", "[places]") {
  const auto refused = [](const std::string& text, const std::string& words) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_places(text), InputError);
    CHECK_THROWS_WITH(parse_places(text), says(words));
  };
  refused("[]", "the file of places is array; expected an object");
  refused("{}", "\"palimpsest_places\" is 0; expected 1");
  refused(R"({"palimpsest_places": 2, "places": []})", "\"palimpsest_places\" is 2; expected 1");
  refused(R"({"palimpsest_places": 1, "places": 3})", "\"places\" is number; expected a list");
  refused(R"({"palimpsest_places": 1, "colour": "red"})", "\"colour\" is no field of the file of places");
  refused(R"({"palimpsest_places": 1, "places": [{"name": "a"}]})", "place 1: \"state\" is missing");
  refused(R"({"palimpsest_places": 1, "places": [7]})", "place 1 is number; expected an object");
  refused(R"({"palimpsest_places": 1, "places": [{"state": 7}]})", "place 1: \"state\" is number");
  refused(R"({"palimpsest_places": 1, "places": [{"state": "!"}]})", "place 1: ");
  refused(R"({"palimpsest_places": 1, "places": [{"state": "", "time": 1}]})",
          "\"time\" is no field of place 1");
}

namespace {

PinnedPlace place(const std::string& name) {
  SessionState state;
  state.data = "preset:copy?T=32&K=16&V=16&seed=1";
  return {.name = name, .state = state_string(state)};
}

}  // namespace

TEST_CASE("pinned places are there again at the next start", "[places]") {
  const TemporaryFolder folder;
  const auto file = folder / "config/palimpsest/places.json";
  {
    KeptPlaces kept(file);
    CHECK(kept.read().empty());
    kept.keep({}, true);
    CHECK_FALSE(std::filesystem::exists(file));  // nothing to keep
    kept.keep({place("one")});
    CHECK(parse_places(read_file(file)).size() == 1);
    kept.keep({place("one"), place("drüm")});  // within a second
    CHECK(parse_places(read_file(file)).size() == 1);
    kept.keep({place("one"), place("drüm")}, true);  // the window closes
    CHECK(kept.problem() == "");
  }
  {
    KeptPlaces kept(file);
    CHECK(kept.read() == std::vector{place("one"), place("drüm")});
    kept.keep({}, true);  // all are taken out
  }
  CHECK(KeptPlaces(file).read().empty());
}

TEST_CASE("a file of pinned places that is broken is set aside, with a message", "[places]") {
  const TemporaryFolder folder;
  const auto file = folder / "places.json";
  const std::string text = R"({"palimpsest_places": 1, "places": [{"name": "x", "state": "nothing"}]})";
  write_file(file, text);
  KeptPlaces kept(file);
  CHECK(kept.read().empty());
  const std::string problem = kept.problem();
  CHECK_THAT(problem, says(file.string()));
  CHECK(problem.ends_with("it is set aside as places.json.broken"));
  CHECK(read_file(folder / "places.json.broken") == text);
  kept.keep({place("one")}, true);
  CHECK(KeptPlaces(file).read().size() == 1);
}

TEST_CASE("where pinned places cannot be written the program says so once", "[places]") {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  KeptPlaces kept(folder / "file/palimpsest/places.json");
  kept.keep({place("one")}, true);
  CHECK_THAT(kept.problem(), says("pinned places are not kept"));
  kept.keep({place("two")}, true);
  CHECK(kept.problem() == "");
}
