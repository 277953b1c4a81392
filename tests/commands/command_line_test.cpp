#include <CLI/CLI.hpp>

#include "app/commands/versions.h"
#include "core/base/error.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A command that throws `problem`.
template <class Problem>
CliCommand throwing(const Problem& problem) {
  return [problem](CLI::App&, Console) -> Task { return [problem]() -> int { throw problem; }; };
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
    const Ran ran = palimpsest_with(arguments);
    CHECK(ran.status == exit_done);
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
    const Ran ran = palimpsest_with(arguments);
    CHECK(ran.status == exit_bad_usage);
    CHECK(is_one_line(ran.error));
    CHECK_THAT(ran.error, says("window"));
  }
  const Ran capture = palimpsest_with({"--capture", "x.npz"});
  CHECK(capture.status == exit_bad_usage);
  CHECK(is_one_line(capture.error));
}

TEST_CASE("the program with a window adds its own options and actions", "[command line]") {
  std::string opened;
  int rendered = 0;
  const CliCommand window = [&](CLI::App& command, Console) -> Task {
    command.add_option("--capture", opened);
    return [] { return 0; };
  };
  const CliCommand render = [&](CLI::App& command, Console console) -> Task {
    command.add_option("--at", rendered);
    return [console] {
      console.out << "drawn";
      return 0;
    };
  };
  CHECK(palimpsest_with({"--capture", "x.npz"}, {window, render}).status == exit_done);
  CHECK(opened == "x.npz");
  CHECK(palimpsest_with({"render", "--at", "7"}, {window, render}).out == "drawn");
  CHECK(rendered == 7);
  CHECK(palimpsest_with({"render", "--at", "x"}, {window, render}).status == exit_bad_usage);
  const Ran misplaced = palimpsest_with({"--capture", "x.npz", "render", "--at", "7"}, {window, render});
  CHECK(misplaced.status == exit_bad_usage);
  CHECK_THAT(misplaced.error, says("--capture before palimpsest render belongs to the window"));
}

TEST_CASE("whatever a command throws becomes one line and a status", "[command line]") {
  CHECK(rendering(InputError("bad\nthing")).error == "palimpsest: bad thing\n");
  CHECK(rendering(InputError("\x1b[31m\xFF.npz")).error == "palimpsest:  [31m\xEF\xBF\xBD.npz\n");
  CHECK(rendering(InputError("x")).status == exit_bad_usage);
  CHECK(rendering(Unsupported("x")).status == exit_unsupported);
  CHECK(rendering(Cancelled()).status == exit_interrupted);
  CHECK(rendering(std::bad_alloc()).status == exit_bad_usage);
  CHECK_THAT(rendering(std::bad_alloc()).error, says("memory"));
  CHECK(rendering(std::length_error("vector")).error == "palimpsest: a mistake in this program: vector\n");
  CHECK(rendering(std::runtime_error("x")).error == "palimpsest: x\n");
}

TEST_CASE("unknown commands and options are refused in one line", "[command line]") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"fly"},
                                                    {"run"},
                                                    {"run", "linear"},
                                                    {"info", "linear", "kda"},
                                                    {"info", "--yaml"},
                                                    {"info", "nothing"}}) {
    const Ran ran = palimpsest_with(arguments);
    INFO(ran.error);
    CHECK(ran.status == exit_bad_usage);
    CHECK(is_one_line(ran.error));
    CHECK(ran.out.empty());
  }
}
