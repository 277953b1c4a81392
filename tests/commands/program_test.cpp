#include <chrono>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "core/base/error.h"
#include "tests/commands/cli.h"
#include "tests/commands/program.h"
#include "tests/folders.h"

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

namespace {

/// The status of the program in a shell: what it does after `before` with the rest of the line.
int status_in_shell(const std::string& before, const std::string& rest) {
  return WEXITSTATUS(std::system((before + "'" + tested_program() + "' " + rest + " 2> /dev/null").c_str()));
}

}  // namespace

TEST_CASE("what does not fit on the disk is no success", "[program]") {
  if (!std::filesystem::exists("/dev/full")) return;
  for (const std::string arguments : {"info", "--help", "--help-all", "--version", "show --help"}) {
    CAPTURE(arguments);
    CHECK(status_in_shell("", arguments + " > /dev/full") == exit_bad_usage);
  }
}

TEST_CASE("a file that may not grow further is an error, and nothing is left of it", "[program]") {
  const TemporaryFolder folder;
  const std::string output = folder / "out.npz";
  CHECK(status_in_shell("ulimit -f 8; ", "run linear --input random:T=9000 --output '" + output + "'") ==
        exit_bad_usage);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a verification or search for faults that is interrupted, or asked to end, leaves what it has",
          "[program]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  // More cases than anyone waits for, in one thread and in several. Some are done before it is interrupted: a
  // report of none has not passed.
  struct Interrupted {
    const char* asked;
    int signal = SIGINT;
  };
  for (const auto& [asked, signal] :
       {Interrupted{"--variant linear --device cpu --jobs 1"},
        Interrupted{"--variant linear --device cpu --jobs 3"}, Interrupted{"--fault all --jobs 2"},
        Interrupted{"--variant linear --device cpu --jobs 1", SIGTERM}}) {
    CAPTURE(asked, signal);
    const testing::Program verifying(
        joined(joined({"verify"}, arguments(asked)), {"--cases", "100000000", "--json", file}));
    verifying.wait_until_it_takes_interrupts();
    verifying.wait_until_it_has_worked(std::chrono::milliseconds(1000));
    CHECK_FALSE(std::filesystem::exists(file));  // no half of a report
    verifying.interrupt(signal);
    const Ran ran = verifying.wait();
    INFO(ran.out << ran.error);
    CHECK(ran.status == exit_interrupted);
    CHECK(ran.error == "palimpsest: interrupted\n");
    CHECK_THAT(ran.out, says("Interrupted: the report covers ") && says(" of 100000000 cases."));
    const auto report = nlohmann::json::parse(read_file(file));
    CHECK(report.at("complete") == false);
    CHECK(report.value("passed", true));
    CHECK(report.at("cases").get<long>() < 100000000);
    std::filesystem::remove(file);
  }
}

TEST_CASE("a case that is impossible is bad input, and the reason is told", "[program]") {
  struct Impossible {
    const char* variant;
    const char* words;
    const char* more;
    const char* reason;
  };
  constexpr Impossible all[] = {
      {"kernel", "random:T=5", "--param feature_map=cosine", "expected one of: elu1, relu"},
      {"kernel", "random:T=5", "--param feature_map_q=relu --param feature_map_k=taylor2", "feature"},
      {"kernel", "random:T=5,state", "--param feature_map_q=favor --param feature_map_k=relu", "feature"},
      {"retnet", "random:T=5", "--param gamma=2", "parameter gamma of retnet is 2; expected"},
      {"retnet", "random:T=5", "--param gama=0.5", "retnet has no parameter \"gama\""},
      {"ttt_linear", "random:T=5", "--param batch=0", "parameter batch of ttt_linear is 0"},
      {"ttt_linear", "random:T=5", "--param batch=1.5", "expected a whole number"},
      {"gla", "random:T=5", "--param scale=1e300", "also as f32 holds it"},
      {"gla", "random:T=5", "--chunk 0", "--chunk is \"0\"; expected a whole number from 1"},
      {"gla", "random:T=5,K=0", "", "K is \"0\"; expected a whole number from 1 to 1048576"},
      {"gla", "random:T=5,V=-1", "", "V is \"-1\"; expected a whole number from 1 to 1048576"},
      {"gla", "random:T=1048577", "", "T is \"1048577\"; expected a whole number from 0 to 1048576"},
      {"gla", "random:T=1000000,K=512", "", "an array of 512000000 numbers; expected at most"},
      {"gla", "random:T=5,seed=-3", "", "seed is \"-3\"; expected a whole number from 0"},
      {"linear", "random:T=5,g", "", "linear takes no decay"},
      {"ttt_mlp", "random:T=5,K=7,V=8", "--param layer_norm=true",
       "needs as many value channels as key channels, 6 or more"},
  };
  for (const auto& [variant, words, more, reason] : all) {
    for (const std::string fault : {"", "--fault all"}) {
      if (!fault.empty() && std::string(reason) == "also as f32 holds it") continue;  // they run in f64
      const Ran ran = program(joined({"verify", "--variant", variant, "--case", words},
                                     joined(arguments(more), arguments(fault))));
      INFO(variant << " " << words << " " << more << " " << fault << "\n" << ran.out);
      check_failure(ran, exit_bad_usage, reason);
      CHECK(ran.out.empty());
    }
  }
}

TEST_CASE("a form that has no room for so many tokens is missing, not wrong", "[program]") {
  const std::vector<std::string> long_case =
      arguments("verify --variant linear --case random:T=100000,K=1,V=1 --chunk 64 --device cpu");
  const Ran ran = program(joined(long_case, {"--precision", "f64"}));
  INFO(ran.out << ran.error);
  CHECK(ran.status == exit_done);
  CHECK_THAT(ran.out, says("missing: the parallel form of 100000 tokens needs"));
  check_failure(program(joined(long_case, {"--form", "parallel"})), exit_unsupported,
                "the parallel form of 100000 tokens needs");
  const Ran faulty = program(joined(long_case, {"--form", "parallel", "--fault", "transposed-state"}));
  INFO(faulty.out << faulty.error);
  CHECK(faulty.status == exit_done);
  CHECK_THAT(faulty.out, says("not there") && says("the parallel form of 100000 tokens needs"));
}

TEST_CASE("a report that does not fit leaves the one before whole", "[program]") {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  CHECK(program({"verify", "--variant", "linear", "--json", file}).status == 0);
  const std::string before = read_file(file);
  CHECK(status_in_shell("ulimit -f 1; ", "verify --cases 30 --json '" + file + "' > /dev/null") ==
        exit_bad_usage);
  CHECK(read_file(file) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

namespace {

/// A command that throws `problem`.
template <class Problem>
CliCommand throwing(const Problem& problem) {
  return [problem](CommandOptions, Console) -> Task { return [problem]() -> int { throw problem; }; };
}

template <class Problem>
Ran rendering(const Problem& problem) {
  return palimpsest_with({"render"}, {.window = {}, .render = throwing(problem)});
}

}  // namespace

TEST_CASE("help and version go to the standard output", "[command line]") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"run", "--help"},
                                                    {"verify", "-h"},
                                                    {"info", "--help"},
                                                    {"--version"}}) {
    const Ran ran = done(arguments);
    CHECK(ran.error.empty());
    CHECK_THAT(ran.out, says("palimpsest"));
  }
}

TEST_CASE("the version names the commit", "[command line]") {
  const Ran ran = palimpsest_with({"--version"});
  CHECK(ran.out == "palimpsest " + version() + " (" + commit() + ")\n");
  const std::string said = commit();
  const std::size_t digits = std::min(said.find_first_not_of("0123456789abcdef"), said.size());
  if (said != "unknown") {
    CHECK(digits >= 7);
    CHECK((digits == said.size() || said.substr(digits) == "-dirty"));
  }
}

TEST_CASE("the program without a window says what it cannot do", "[command line]") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"render"},
                                                    {"render", "--at", "3", "--output", "x.png"},
                                                    {"bench", "ui"}}) {
    check_failure(arguments, exit_bad_usage, "window");
  }
  check_failure({"--capture", "x.npz"}, exit_bad_usage);
}

TEST_CASE("the program with a window adds its own options and actions", "[command line]") {
  std::string opened;
  double rendered = 0;
  const CliCommand window = [&](CommandOptions command, Console) -> Task {
    command.option("--capture", "");
    return [&opened, command] {
      opened = command["--capture"];
      return 0;
    };
  };
  const CliCommand render = [&](CommandOptions command, Console console) -> Task {
    command.number("--at", "", 0, 0, 9);
    return [&rendered, command, console] {
      rendered = command.as_number("--at");
      console.out << "drawn";
      return 0;
    };
  };
  CHECK(palimpsest_with({"--capture", "x.npz"}, {window, render}).status == exit_done);
  CHECK(opened == "x.npz");
  CHECK(palimpsest_with({"render", "--at", "7"}, {window, render}).out == "drawn");
  CHECK(rendered == 7);
  CHECK(palimpsest_with({"render", "--at", "x"}, {window, render}).status == exit_bad_usage);
  check_failure(palimpsest_with({"--capture", "x.npz", "render", "--at", "7"}, {window, render}),
                exit_bad_usage, "--capture before palimpsest render belongs to the window");
}

TEST_CASE("whatever a command throws becomes one line and a status", "[command line]") {
  CHECK(rendering(InputError("bad\nthing")).error == "palimpsest: bad thing\n");
  CHECK(rendering(InputError("\x1b[31m\xFF.npz")).error == "palimpsest:  [31m\xEF\xBF\xBD.npz\n");
  CHECK(rendering(InputError("x")).status == exit_bad_usage);
  CHECK(rendering(Unsupported("x")).status == exit_unsupported);
  CHECK(rendering(Cancelled()).status == exit_interrupted);
  CHECK(rendering(std::bad_alloc()).status == exit_bad_usage);
  CHECK_THAT(rendering(std::bad_alloc()).error, says("memory"));
  CHECK(rendering(std::length_error("vector")).error == "palimpsest: a bug in this program: vector\n");
  CHECK(rendering(std::runtime_error("x")).error == "palimpsest: x\n");
}

TEST_CASE("unknown commands and options are refused in one line", "[command line]") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"fly"},
                                                    {"run"},
                                                    {"run", "linear"},
                                                    {"info", "linear", "kda"},
                                                    {"info", "--yaml"},
                                                    {"info", "nothing"}}) {
    check_refused(arguments, exit_bad_usage);
  }
}
