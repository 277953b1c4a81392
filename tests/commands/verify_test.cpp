#include <nlohmann/json.hpp>

#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("verify checks the variants that it is asked for and writes a report", "[verify]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  const Ran ran = palimpsest_with({"verify", "--variant", "linear", "--variant", "retnet", "--json", file});
  INFO(ran.out << ran.error);
  CHECK(ran.status == exit_done);
  CHECK(ran.error.empty());  // no progress where there is no terminal
  CHECK_THAT(ran.out, says("linear") && says("retnet") && says("chunkwise"));
  const auto report = nlohmann::json::parse(read_file(file));
  CHECK(report.at("passed") == true);
  CHECK(report.at("complete") == true);
  std::map<std::string, int> seen;
  for (const auto& result : report.at("results")) ++seen[result.at("variant")];
  CHECK(seen.size() == 2);
}

TEST_CASE("verify refuses an unknown variant and a report that cannot be written", "[verify]") {
  const Ran unknown = palimpsest_with({"verify", "--variant", "transformer"});
  CHECK(unknown.status == exit_bad_usage);
  CHECK(is_one_line(unknown.error));
  const Ran unwritable = palimpsest_with({"verify", "--variant", "linear", "--json", "/absent/report.json"});
  CHECK(unwritable.status == exit_bad_usage);
  CHECK(is_one_line(unwritable.error));
  CHECK_THAT(unwritable.error, says("/absent/report.json"));
}
