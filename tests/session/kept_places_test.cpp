// Pinned places between starts: what is pinned is there again, what cannot be read is set aside.

#include "app/session/pinned_places.h"

#include "app/session/state_text.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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
