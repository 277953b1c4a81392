#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The real program, started with its output going to files.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = joined({PALIMPSEST_CLI}, arguments);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = folder_ / "out";
    const std::string error = folder_ / "error";
    process_ = fork();
    if (process_ == 0) {
      dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
      dup2(open(error.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
      execv(argv.front(), argv.data());
      _exit(127);
    }
  }

  void interrupt() const { kill(process_, SIGINT); }

  /// The exit status, or -1 for a program that did not end by itself.
  Ran wait() const {
    int status = 0;
    waitpid(process_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_ / "out"),
            read_file(folder_ / "error")};
  }

 private:
  TemporaryFolder folder_;
  pid_t process_ = 0;
};

Ran program(const std::vector<std::string>& arguments) { return Program(arguments).wait(); }

}  // namespace

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
  const Program verifying({"verify", "--json", file});
  // The report is opened just before the work begins.
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  verifying.interrupt();
  const Ran ran = verifying.wait();
  INFO(ran.out << ran.error);
  CHECK(ran.status == exit_interrupted);
  CHECK(ran.error == "palimpsest: interrupted\n");
  CHECK_THAT(ran.out, says("Interrupted: the report covers"));
  CHECK(nlohmann::json::parse(read_file(file)).at("complete") == false);
}
