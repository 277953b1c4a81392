// Where a person's files are saved at first, and which are remembered.

#include <cstdlib>
#include <set>

#include "app/studio/application.h"
#include "app/views/data_entries.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("a place is saved at home, then where the last one was, and is found again", "[files]") {
  const TemporaryFolder home;
  const TemporaryFolder elsewhere;
  const char* known = std::getenv("HOME");
  const std::string before = known ? known : "";
  setenv("HOME", home.path().c_str(), 1);
  Application application;
  application.open_first_capture();
  application.session.wait();
  application.session.go_to_token(19);
  application.ask_where_to_save(false);
  CHECK(std::filesystem::path(application.save_path).parent_path() == home.path());
  setenv("HOME", before.c_str(), 1);

  const std::filesystem::path file = elsewhere / "mine.json";
  REQUIRE(application.save_to(file) == "");
  CHECK(application.recent_files == std::vector<std::string>{file.string()});
  CHECK(application.own_folder() == elsewhere.path());
  const std::vector<DataEntry> entries = data_entries(application.recent_files);
  CHECK(entries.front().id == file.string());
  application.session.go_to_token(3);
  CHECK(application.open(file));
  application.session.wait();
  CHECK(application.session.token() == 19);
  CHECK(application.recent_files.size() == 1);
  application.recent_files = {"/no/such/folder/x.npz"};  // one that is gone is passed over
  CHECK(application.own_folder() != "/no/such/folder");

  Application next;
  next.recent_files = {file.string()};
  next.ask_where_to_save(false);
  CHECK(std::filesystem::path(next.save_path).parent_path() == elsewhere.path());
}

TEST_CASE("no two data of one group have the same name", "[files]") {
  std::set<std::pair<std::string, std::string>> names;
  for (const DataEntry& entry : data_entries({})) {
    CAPTURE(entry.group, entry.name);
    CHECK(names.emplace(entry.group, entry.name).second);
  }
  CHECK(names.contains({"Trained models · Mamba-2 (scalar decay)", "Mamba-2: recall · layer 2"}));
  CHECK(names.contains({"Trained models · DeltaNet", "overwriting a fact · layer 2"}));
}
