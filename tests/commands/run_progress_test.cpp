#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <semaphore>

#include "app/commands/commands.h"
#include "app/commands/progress.h"
#include "app/commands/run_batch.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// `palimpsest run` of linear attention on zeros of so many heads of 5 tokens; gives what it wrote to the
/// standard error.
std::string errors_of_run(Index heads, bool shows_progress) {
  const Run run;
  const Array zeros({5, heads, 3}, std::vector<double>(static_cast<std::size_t>(15 * heads)));
  write_npz(run.input(), {{"q", zeros}, {"k", zeros}, {"v", zeros}});
  std::ostringstream out;
  std::ostringstream error;
  CLI::App command;
  const Task task = add_run(command, {out, error, shows_progress});
  std::vector<std::string> arguments = {"linear", "--input", run.input(), "--output", run.output()};
  std::ranges::reverse(arguments);  // as CLI11 takes them
  command.parse(arguments);
  REQUIRE(task() == exit_done);
  return error.str();
}

}  // namespace

TEST_CASE("a run shows on a terminal where it is, on a line that goes; elsewhere nothing", "[run]") {
  const std::string shown = errors_of_run(4, true);
  CHECK_THAT(shown, says("4 heads of 5 tokens"));
  CHECK_THAT(shown, says("on cpu, "));
  CHECK(shown.ends_with("\r\x1b[K"));
  CHECK(shown.find('\n') == std::string::npos);
  CHECK(errors_of_run(4, false).empty());
}

TEST_CASE("the line of a run counts the heads that are done where the device tells", "[run]") {
  Sequence head;
  head.tokens = 1024;
  SequenceBatch batch;
  batch.heads = {head, head, head};
  CHECK(describe_progress(batch, "cuda", 0) == "3 heads of 1024 tokens on cuda");
  CHECK(describe_progress(batch, "cpu", 2) == "2 of 3 heads of 1024 tokens done on cpu");
}

TEST_CASE("a line of a long work is written again while it lasts", "[run]") {
  std::ostringstream out;
  std::ostringstream error;
  std::counting_semaphore<> asked(0);
  int times = 0;
  {
    const Console console{out, error, true};
    const WaitingLine line(console, [&] {
      asked.release();
      return fmt::format("asked {} times", ++times);
    });
    for (int i = 0; i < 3; ++i) asked.acquire();
  }
  CHECK_THAT(error.str(), says("asked 1 times, "));
  CHECK_THAT(error.str(), says("asked 2 times"));
  CHECK(error.str().ends_with("\r\x1b[K"));
}
