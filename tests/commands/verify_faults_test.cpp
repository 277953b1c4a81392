#include <nlohmann/json.hpp>

#include "core/faults.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("verify with a fault fails and names the first step that is off", "[verify]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  const Ran ran = palimpsest_with(
      {"verify", "--variant", "gated_deltanet", "--fault", "undecayed-erase", "--json", file});
  INFO(ran.out << ran.error);
  CHECK(ran.status == exit_failed_checks);
  CHECK_THAT(ran.out, says("fails       undecayed-erase in gated_deltanet recurrent") &&
                          says("token 0, block 0, operation read (What is there now): old[") &&
                          says("4 of 4 faulty forms fail."));
  const auto report = nlohmann::json::parse(read_file(file));
  REQUIRE(report.at("faulty").size() == 4);
  CHECK(report.at("faulty")[0].at("departure").at("operation") == "read");
}

TEST_CASE("a fault that no form can have fails nothing, and the reason is told", "[verify]") {
  const Ran ran = palimpsest_with({"verify", "--variant", "linear", "--fault", "momentum-dropped"});
  INFO(ran.out << ran.error);
  CHECK(ran.status == exit_done);
  CHECK_THAT(ran.out, says("0 of 0 faulty forms fail.") && says("it takes a momentum"));
}

TEST_CASE("the faults are listed by name, and another name is refused", "[verify]") {
  const Ran listed = palimpsest_with({"verify", "--faults"});
  CHECK(listed.status == exit_done);
  for (const Fault& fault : faults()) CHECK_THAT(listed.out, says(fault.id) && says(fault.sentence));
  const Ran unknown = palimpsest_with({"verify", "--fault", "typo"});
  CHECK(unknown.status == exit_bad_usage);
  CHECK(is_one_line(unknown.error));
  CHECK_THAT(unknown.error, says("solve-sign"));
}

TEST_CASE("a fault cannot be asked for in cases of one's own", "[verify]") {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"--form", "parallel"}, {"--cases", "10"}, {"--seed", "2"}, {"--case", "random:T=5"}};
  for (const auto& [other, value] : others) {
    const Ran ran = palimpsest_with({"verify", "--fault", "solve-sign", other, value});
    INFO(ran.error);
    CHECK(ran.status == exit_bad_usage);
    CHECK(is_one_line(ran.error));
    CHECK_THAT(ran.error, says("--fault") && says(other));
  }
}

TEST_CASE("forms without a fault are one line for each reason, and a phase stands beside its block",
          "[verify]") {
  const Ran ran = palimpsest_with({"verify", "--variant", "deltanet", "--fault", "all"});
  CHECK(ran.status == exit_failed_checks);
  CHECK_THAT(ran.out, says("4 forms of deltanet: it takes a momentum"));
  CHECK_THAT(ran.out, says("(first the memory before every chunk), operation solve"));
}
