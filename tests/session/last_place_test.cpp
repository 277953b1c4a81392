// Where one was when the program ended.

#include "app/session/last_place.h"

#include "tests/catch.h"
#include "tests/core/io/files.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

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
  Choice choice = session.choice();
  choice.variant = "deltanet";
  set_slider(choice.edits, "scale_keys", 0.5);
  session.choose(choice);
  session.wait();
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
  CHECK_THAT(problem_with("{"), says("The place where it ended last time cannot be opened") &&
                                    says("last_place.json") && says("not valid JSON"));
  CHECK_THAT(problem_with(R"({"data": "/no/such/file.npz"})"), says("/no/such/file.npz"));
  CHECK_THAT(problem_with(R"({"data": "preset:copy?T=12&K=3&V=2", "token": 99})"), says("99"));

  // Where it cannot be written nothing is tried again.
  write_file(folder / "file", "");
  Session session;
  open(session, "preset:copy?T=12&K=3&V=2");
  LastPlace nowhere(folder / "file/last_place.json");
  nowhere.keep(session, true);
  CHECK_THAT(nowhere.problem(), says("last places are not kept"));
  session.go_to_token(3);
  nowhere.keep(session, true);
  CHECK(nowhere.problem() == "");
}
