// Settings between starts: what is written is read again, what cannot be read is set aside.
// Where one was when the program ended, and the places that are pinned.

#include "app/session/kept.h"

#include <cstdlib>

#include "tests/catch.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

Preferences some() {
  return {.theme = Theme::light,
          .scale = 1.25,
          .width = 1280,
          .height = 801,
          .layout = "[Window][Däta]\nPos=1,2\n",
          .own_workspaces = {"step", "learn"},
          .recent_files = {"/home/dä/mine.npz", "/tmp/x.npz"},
          .closed_stories = {"capture:gla_recall_l1"},
          .lessons = {{"08-erase-then-write", "C!;0.25!;"}}};
}

PinnedPlace place(const std::string& name, Index token = 0) {
  return {name, state_string({.data = "preset:copy?T=32&K=16&V=16&seed=1", .place = {.token = token}})};
}

/// An environment variable, put back at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value ? std::optional<std::string>(value) : std::nullopt);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("preferences come back from their JSON", "[preferences]") {
  CHECK(parse_preferences(write_preferences(some())) == some());
  CHECK(parse_preferences(write_preferences({})) == Preferences{});
  CHECK(Preferences{}.level == Level::story);  // a first start
  Preferences older;
  older.level = Level::all;  // nobody loses what he saw
  CHECK(parse_preferences("{}") == older);
  CHECK(parse_preferences(R"({"theme": "light", "from a later version": [1]})").theme == Theme::light);
}

TEST_CASE("a settings file with a mistake says which", "[preferences]") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not valid JSON"},
      {R"({"theme": "li)", "not valid JSON"},
      {"[]", "expected an object"},
      {R"({"theme": 3})", "\"theme\" is number; expected a string"},
      {R"({"theme": "blue"})", "\"theme\" is \"blue\"; expected one of: dark, light"},
      {R"({"level": "none"})", "\"level\" is \"none\"; expected one of: story, work, all"},
      {R"({"scale": 0.4})", "\"scale\" is 0.4; expected a number from 0.5 to 4"},
      {R"({"scale": "1"})", "\"scale\" is string"},
      {R"({"width": 15})", "\"width\" is 15; expected a whole number from 16 to 16384"},
      {R"({"height": 1e3})", "\"height\" is number; expected a whole number"},
      {R"({"height": 4611686018427387904})", "\"height\" is 4.6"},
      {R"({"own_workspaces": ["step", 1]})", "\"own_workspaces\" holds number"},
  };
  for (const auto& [text, words] : cases) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_preferences(text), says(words));
  }
}

TEST_CASE("settings are kept in the file, whole, when something changes", "[preferences]") {
  const TemporaryFolder folder;
  const auto file = folder / "config/palimpsest/settings.json";
  {
    KeptPreferences kept(file);
    CHECK(kept.read() == Preferences{});
    kept.keep({}, true);
    CHECK_FALSE(std::filesystem::exists(file));  // nothing to keep
    kept.keep(some());
    CHECK(parse_preferences(read_file(file)) == some());
    Preferences later = some();
    later.scale = 2;
    kept.keep(later);  // within a second
    CHECK(parse_preferences(read_file(file)) == some());
    kept.keep(later, true);
    CHECK(parse_preferences(read_file(file)) == later);
    CHECK(kept.problem() == "");
  }
  KeptPreferences again(file);
  CHECK(again.read().scale == 2);
  CHECK(again.read().own_workspaces == some().own_workspaces);
  // What the command line says once is not kept, what is changed then is.
  Preferences shown = again.read();
  shown.theme = Theme::dark;
  again.begin_with(shown);
  shown.width = 900;
  again.keep(shown, true);
  CHECK(parse_preferences(read_file(file)).theme == Theme::light);
  CHECK(parse_preferences(read_file(file)).width == 900);
  CHECK(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}) ==
        1);  // nothing beside it
}

TEST_CASE("two windows keep what each of them changed", "[preferences]") {
  const TemporaryFolder folder;
  const auto file = folder / "settings.json";
  KeptPreferences one(file);
  KeptPreferences other(file);
  Preferences of_one;
  of_one.theme = Theme::light;
  one.keep(of_one, true);
  Preferences of_other;
  of_other.width = 900;
  other.keep(of_other, true);
  of_one.scale = 2;
  one.keep(of_one, true);
  Preferences expected;
  expected.theme = Theme::light;
  expected.width = 900;
  expected.scale = 2;
  CHECK(parse_preferences(read_file(file)) == expected);
  of_other.theme = Theme::light;  // both the same
  of_other.scale = 3;             // the last one wins
  other.keep(of_other, true);
  expected.scale = 3;
  CHECK(parse_preferences(read_file(file)) == expected);
  write_file(file, "{");  // nothing to take
  of_other.height = 700;
  other.keep(of_other, true);
  expected.height = 700;
  CHECK(parse_preferences(read_file(file)) == expected);
  CHECK(one.problem() + other.problem() == "");
}

TEST_CASE("a broken settings file is set aside, with a message", "[preferences][places]") {
  const TemporaryFolder folder;
  const auto file = folder / "settings.json";
  for (const std::string name :
       {"settings.json.broken", "settings.json.broken-2", "settings.json.broken-3"}) {
    const std::string text = "{\"theme\": \"" + name;
    write_file(file, text);
    KeptPreferences kept(file);
    CHECK(kept.read() == Preferences{});
    const std::string problem = kept.problem();
    CHECK_THAT(problem, says(file.string() + ": it is not valid JSON"));
    CHECK(problem.ends_with("it is set aside as " + name));
    CHECK(kept.problem() == "");  // told once
    CHECK(read_file(folder / name) == text);
    CHECK_FALSE(std::filesystem::exists(file));
    kept.keep(some(), true);
    CHECK(parse_preferences(read_file(file)) == some());
  }
  KeptPreferences kept(file);
  kept.set_aside("the panels lie nowhere");
  CHECK_THAT(kept.problem(), says(file.string() + ": the panels lie nowhere; it is set aside"));
  CHECK(kept.read() == Preferences{});
  const std::string text = R"({"palimpsest_places": 1, "places": [{"name": "x", "state": "nothing"}]})";
  write_file(folder / "places.json", text);
  KeptPlaces places(folder / "places.json");  // pinned places too
  CHECK(places.read().empty());
  const std::string problem = places.problem();
  CHECK_THAT(problem, says((folder / "places.json").string()));
  CHECK(problem.ends_with("it is set aside as places.json.broken"));
  CHECK(read_file(folder / "places.json.broken") == text);
  places.keep({place("one")}, true);
  CHECK(KeptPlaces(folder / "places.json").read().size() == 1);
}

TEST_CASE("where settings cannot be written the program says so once and goes on", "[preferences]") {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  KeptPreferences kept(folder / "file/palimpsest/settings.json");
  CHECK(kept.problem() == "");
  kept.keep(some(), true);
  CHECK_THAT(kept.problem(), says("settings are not kept"));
  kept.keep({}, true);
  CHECK(kept.problem() == "");
  KeptPreferences nowhere{std::filesystem::path()};
  nowhere.keep(some(), true);
  CHECK(nowhere.problem() == "");
  KeptPlaces places(folder / "file/palimpsest/places.json");
  places.keep({{.name = "one", .state = ""}}, true);
  CHECK_THAT(places.problem(), says("pinned places are not kept"));
}

TEST_CASE("settings lie where XDG says", "[preferences]") {
  {
    const Variable config("XDG_CONFIG_HOME", "/some/config");
    CHECK(own_file("settings.json") == "/some/config/palimpsest/settings.json");
  }
  const Variable home("HOME", "/home/somebody");
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable config("XDG_CONFIG_HOME", unusable);
    CHECK(own_file("settings.json") == "/home/somebody/.config/palimpsest/settings.json");
    const Variable homeless("HOME", nullptr);
    CHECK(own_file("settings.json").empty());
  }
}

TEST_CASE("the next start comes back to the last place, with its edits", "[last]") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "settings/last_place.json";
  Session session;
  LastPlace nothing(file);
  CHECK_FALSE(nothing.come_back(session));  // there is nothing yet
  CHECK(nothing.problem() == "");
  nothing.keep(session, true);
  CHECK_FALSE(std::filesystem::exists(file));  // nothing is open

  open(session, "preset:overwrite?T=13&K=2&V=3");
  choose(session, [&](Choice& choice) {
    choice.variant = "deltanet";
    set_slider(choice.edits, "scale_keys", 0.5);
  });
  session.go_to_token(7);
  session.step(Session::Grain::operation, 1);
  nothing.keep(session);
  session.go_to_token(5);
  nothing.keep(session);  // so soon after the last it waits
  nothing.keep(session, true);
  const SessionState left = session.state();

  Session next;
  LastPlace kept(file);
  REQUIRE(kept.come_back(next));
  CHECK(kept.problem() == "");
  CHECK(next.state() == left);
  CHECK(next.computed()->choice.edits == left.edits);
  next.go_to_token(6);
  kept.keep(next, true);
  Session again;
  REQUIRE(LastPlace(file).come_back(again));
  CHECK(again.token() == 6);
}

TEST_CASE("a last place that is broken, or whose data are gone, is said and left", "[last]") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "last_place.json";
  const auto problem_with = [&](const std::string& text) {
    write_file(file, text);
    Session session;
    LastPlace kept(file);
    CHECK_FALSE(kept.come_back(session));
    std::string problem = kept.problem();
    open(session, "preset:copy?T=12&K=3&V=2");  // the usual start still works
    CHECK(session.message().empty());
    kept.keep(session, true);
    Session next;
    CHECK(LastPlace(file).come_back(next));
    return problem;
  };
  CHECK_THAT(problem_with("{"),
             says("The last place cannot be opened") && says("last_place.json") && says("not valid JSON"));
  CHECK_THAT(problem_with(R"({"data": "/no/such/file.npz"})"), says("/no/such/file.npz"));
  CHECK_THAT(problem_with(R"({"data": "preset:copy?T=12&K=3&V=2", "token": 99})"), says("99"));

  // Where it cannot be written nothing is tried again.
  write_file(folder / "file", "");
  Opened session("preset:copy?T=12&K=3&V=2");
  LastPlace nowhere(folder / "file/last_place.json");
  nowhere.keep(session, true);
  CHECK_THAT(nowhere.problem(), says("last places are not kept"));
  session.go_to_token(3);
  nowhere.keep(session, true);
  CHECK(nowhere.problem() == "");
}

namespace {

std::vector<std::string> names(const PinnedPlaces& places) {
  return texts_of(places.all(), &PinnedPlace::name);
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
  places.word(2, &PinnedPlace::name, "last");
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
