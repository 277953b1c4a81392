#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/commands/program.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("the program returns its exit status to the shell", "[program]") {
  const TemporaryFolder folder;
  const std::string output = folder / "out.npz";
  CHECK(program({"run", "kda", "--input", "random:T=5", "--output", output}).status == 0);
  CHECK(read_npz(output).arrays.contains("final_state"));
  CHECK(program({"info"}).status == 0);
  const Ran bad = program({"run", "kda", "--input", folder / "absent.npz", "--output", output});
  CHECK(bad.status == 2);
  CHECK(bad.error == "palimpsest: " + std::string(folder / "absent.npz") + ": no such file\n");
  CHECK(program({"run"}).status == 2);
  CHECK(program({}).status == 2);
  CHECK(program(
            {"run", "linear", "--form", "parallel", "--input", "random:T=100000,K=1,V=1", "--output", output})
            .status == 3);
}

TEST_CASE("a report that does not fit on the disk is no success", "[program]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const std::string command = "'" + std::string(PALIMPSEST_CLI) + "' info > /dev/full 2> /dev/null";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == exit_bad_usage);
}

TEST_CASE("a file that may not grow further is an error, and nothing is left of it", "[program]") {
  const TemporaryFolder folder;
  const std::string command = "ulimit -f 8; '" + std::string(PALIMPSEST_CLI) +
                              "' run linear --input random:T=9000 --output '" +
                              std::string(folder / "out.npz") + "' 2> /dev/null";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == exit_bad_usage);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an interrupted verification ends cleanly with what it has", "[program]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  // More cases than anyone waits for, in one thread and in several.
  for (const char* jobs : {"1", "3"}) {
    const Program verifying({"verify", "--cases", "100000000", "--jobs", jobs, "--json", file});
    verifying.wait_until_it_takes_interrupts();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK_FALSE(std::filesystem::exists(file));  // no half of a report
    verifying.interrupt();
    const Ran ran = verifying.wait();
    INFO(ran.out << ran.error);
    CHECK(ran.status == exit_interrupted);
    CHECK(ran.error == "palimpsest: interrupted\n");
    CHECK_THAT(ran.out, says("Interrupted: the report covers ") && says(" of 100000000 cases."));
    const auto report = nlohmann::json::parse(read_file(file));
    CHECK(report.at("complete") == false);
    CHECK(report.at("passed") == true);
    CHECK(report.at("planned") == 100000000);
    CHECK(report.at("cases").get<long>() < 100000000);
    std::filesystem::remove(file);
  }
}

TEST_CASE("a report that does not fit leaves the one before whole", "[program]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  CHECK(program({"verify", "--variant", "linear", "--json", file}).status == 0);
  const std::string before = read_file(file);
  const std::string command = "ulimit -f 1; '" + std::string(PALIMPSEST_CLI) +
                              "' verify --cases 30 --json '" + file + "' > /dev/null 2> /dev/null";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == exit_bad_usage);
  CHECK(read_file(file) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}
