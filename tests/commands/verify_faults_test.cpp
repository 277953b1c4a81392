#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/proof/faults.h"
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
  CHECK_THAT(ran.out,
             says("fails       undecayed-erase in gated_deltanet order=update_first recurrent") &&
                 says("token 0, block 0, operation read (What is there now): old[") &&
                 says("8 of 8 faulty forms fail."));  // four forms, two orders of reading and writing
  const auto report = nlohmann::json::parse(read_file(file));
  REQUIRE(report.at("faulty").size() == 8);
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

TEST_CASE("faults are looked for in the cases that are asked for, in any number of threads", "[verify]") {
  const TemporaryFolder folder;
  const auto report = [&](const char* jobs) {
    const std::string file = folder / (std::string("jobs") + jobs + ".json");
    const Ran ran = palimpsest_with(
        {"verify", "--fault", "solve-sign", "--fault",  "edge-lost", "--variant",   "deltanet", "--variant",
         "kda",    "--form",  "chunkwise",  "--device", "cpu",       "--precision", "f64",      "--cases",
         "20",     "--seed",  "3",          "--jobs",   jobs,        "--json",      file});
    INFO(ran.out << ran.error);
    CHECK(ran.status == exit_failed_checks);
    CHECK(ran.error.empty());
    return read_file(file);
  };
  const std::string one = report("1");
  CHECK(report("3") == one);
  const auto json = nlohmann::json::parse(one);
  CHECK(json.at("cases") == 20);
  CHECK(json.at("complete") == true);
  REQUIRE(json.at("faulty").size() == 8);  // two faults, rules and orders
  for (const auto& faulty : json.at("faulty")) CHECK(faulty.at("form") == "chunkwise");
}

TEST_CASE("the command that a faulty form names shows the fault again", "[verify]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  const auto run = [&](const std::vector<std::string>& arguments) {
    const Ran ran = palimpsest_with(joined(arguments, {"--json", file}));
    INFO(ran.out << ran.error);
    REQUIRE((ran.status == exit_failed_checks || ran.status == exit_done));
    return nlohmann::json::parse(read_file(file)).at("faulty");
  };
  for (const char* variant : {"gated_deltanet", "ttt_mlp", "softmax"}) {
    for (const auto& faulty : run({"verify", "--fault", "all", "--variant", variant, "--cases", "4"})) {
      std::istringstream words(faulty.at("reproduction").get<std::string>());
      std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
      REQUIRE(arguments.front() == "palimpsest");
      arguments.erase(arguments.begin());
      const auto again = run(arguments);
      REQUIRE(again.size() == 1);
      CHECK(again[0] == faulty);
    }
  }
}

TEST_CASE("a fault in one case of one's own is noticed where the case can show it", "[verify]") {
  const auto status = [](const char* words) {
    return palimpsest_with({"verify", "--fault", "solve-sign", "--variant", "deltanet", "--form", "chunkwise",
                            "--case", words, "--chunk", "7", "--param", "scale=0.5"});
  };
  CHECK(status("random:T=2").status == exit_failed_checks);
  CHECK_THAT(status("random:T=2").out, says("1 of 1 faulty forms fail."));
  const Ran unnoticed = status("random:T=1");
  CHECK(unnoticed.status == exit_done);
  CHECK_THAT(unnoticed.out, says("NOT NOTICED") && says("--case random:T=1,") && says("--param scale=0.5") &&
                                says("--fault solve-sign"));
}

TEST_CASE("faults in f32 are refused with the reason", "[verify]") {
  const Ran ran = palimpsest_with({"verify", "--fault", "solve-sign", "--precision", "f32"});
  CHECK(ran.status == exit_unsupported);
  CHECK(is_one_line(ran.error));
  CHECK_THAT(ran.error, says("step by step in f64"));
}

TEST_CASE("forms without a fault are one line for each reason, and a phase stands beside its block",
          "[verify]") {
  const Ran ran = palimpsest_with({"verify", "--variant", "deltanet", "--fault", "all"});
  CHECK(ran.status == exit_failed_checks);
  CHECK_THAT(ran.out, says("8 forms of deltanet: it takes a momentum"));
  CHECK_THAT(ran.out, says("(first the memory before every chunk), operation solve"));
}
