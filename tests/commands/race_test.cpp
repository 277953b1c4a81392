// palimpsest bench: what it measures, writes, continues and refuses.

#include <nlohmann/json.hpp>

#include "app/session/races.h"
#include "kernels/device.h"
#include "tests/commands/cli.h"
#include "tests/commands/program.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A race of a moment.
const std::vector<std::string> quick =
    arguments("bench --device cpu --heads 2 --dk 6 --chunk 8 --repeats 1 --no-roof");

std::vector<std::string> bench(const std::string& more, const std::vector<std::string>& files = {}) {
  return joined(joined(quick, arguments(more)), files);
}

}  // namespace

TEST_CASE("bench measures every combination, softmax beside, and writes a report", "[race]") {
  const TemporaryFolder folder;
  const Ran ran = done(joined(
      arguments("bench --variant gated_deltanet --form recurrent,chunkwise --device cpu --precision f32,f64 "
                "--tokens 9,33 --batch 2 --heads 3 --dk 6,4 --dv 5,7 --chunk 8 --repeats 2"),
      {"--json", folder / "race.json", "--csv", folder / "race.csv"}));
  CHECK(ran.error.empty());  // no progress where there is no terminal
  const RaceReport report = read_race(folder / "race.json");
  CHECK(report.complete());
  CHECK(report.points.size() == 2 * 2 * 2 * 2 * 2);  // rules, forms, precisions, lengths, sizes
  for (const RacePoint& point : report.points) {
    CHECK(point.measured());
    CHECK(point.repeats == 2);
    CHECK(point.entry.batches == 2);
    CHECK(point.entry.heads == 3);
    CHECK(point.entry.dv == (point.entry.dk == 6 ? 5 : 7));
  }
  CHECK(report.roofs.size() == 2);
  REQUIRE(report.starts.size() == 1);
  CHECK_THAT(report.starts.front().command,
             says("palimpsest bench --variant gated_deltanet --form recurrent,chunkwise --device cpu"));
  CHECK(read_file(folder / "race.csv") == race_csv(report));
  CHECK_THAT(ran.out, says("B 2, H 3, K 6, V 5") && says("B 2, H 3, K 4, V 7") && says("T 33") &&
                          says("chunkwise 8") && says("softmax") && says("GB/s") &&
                          says(report.machine.processor));
}

TEST_CASE("a report is continued with what it lacks", "[race]") {
  const TemporaryFolder folder;
  const std::string file = folder / "race.json";
  const std::string alone = "--variant linear --alone --form recurrent --tokens ";
  done(bench(alone + "9", {"--json", file}));
  const RaceReport begun = read_race(file);
  REQUIRE(begun.points.size() == 1);
  done(bench(alone + "9,17", {"--continue", file}));
  const RaceReport report = read_race(file);  // where it was
  REQUIRE(report.points.size() == 2);
  CHECK(report.points.front() == begun.points.front());
  CHECK(report.starts.size() == 2);

  RaceReport other = report;
  other.machine.processor = "another";
  const std::string text = race_json(other);
  write_file(file, text);
  check_failure(bench("--variant linear --tokens 9", {"--continue", file}), exit_bad_usage, file,
                "another processor: \"another\"");
  CHECK(read_file(file) == text);
}

TEST_CASE("bench says why points are missing", "[race]") {
  const TemporaryFolder folder;
  CHECK_THAT(done(bench("--variant linear --form two-pass --tokens 9", {"--json", folder / "race.json"})).out,
             says("Not measured, and why") &&
                 says("softmax two-pass 8 cpu f32: Every query needs the keys themselves"));
  check_failure(bench("--variant softmax --form two-pass --tokens 9"), exit_unsupported,
                "there is nothing to measure: Every query needs the keys");
  if (cuda_unavailable().empty()) return;
  check_failure(arguments("bench --variant linear --device cuda --tokens 9"), exit_unsupported,
                cuda_unavailable());
}

TEST_CASE("bench refuses what it does not understand", "[race]") {
  const TemporaryFolder folder;
  write_file(folder / "other.json", "{\"cells\": [], \"nbformat\": 4}");
  for (const auto& [more, message] : std::vector<std::pair<std::string, std::string>>{
           {"--variant lineal", "lineal"},
           {"--form fast", "there is no form \"fast\""},
           {"--device tpu", "there is no device \"tpu\""},
           {"--precision f8", "there is no precision \"f8\""},
           {"--tokens 0", "--tokens is \"0\"; expected a whole number from 1"},
           {"--tokens 128,x", "--tokens is \"x\""},
           {"--dk 4,6 --dv 4", "--dk has 2 sizes and --dv 1"},
           {"--seconds 0", "--seconds is \"0\"; expected seconds above 0"},
           {"--repeats 0", "--repeats is \"0\""},
           {"--json /dev/full", "is not a regular file"}})
    check_failure(arguments("bench " + more), exit_bad_usage, message);
  check_failure({"bench", "--continue", folder / "none.json"}, exit_bad_usage, "no such file");
  check_failure({"bench", "--continue", folder / "other.json"}, exit_bad_usage,
                "seems to be a Jupyter notebook");
}

TEST_CASE("an interrupted race ends cleanly with what it has, and is continued", "[race]") {
  const TemporaryFolder folder;
  const std::string file = folder / "race.json";
  // Points of a moment, and one for which nobody waits.
  const std::vector<std::string> race = arguments(
      "bench --variant linear --alone --form recurrent --device cpu --heads 1 --dk 64 --no-roof --repeats "
      "100000 --seconds");
  const testing::Program racing(joined(race, {"100000", "--tokens", "100000", "--json", file}));
  racing.wait_until_it_takes_interrupts();
  racing.wait_until_it_has_worked(std::chrono::milliseconds(300));
  racing.interrupt();
  const Ran ran = racing.wait();
  CHECK(ran.status == exit_interrupted);
  CHECK(ran.error == "palimpsest: interrupted\n");
  CHECK_THAT(ran.out, says("Interrupted: 1 point is left; continue with --continue " + file + "."));
  const RaceReport report = read_race(file);
  CHECK(report.points.empty());
  CHECK(report.left == 1);
  const Ran rest = program(joined(race, {"1e-9", "--tokens", "9", "--continue", file}));
  INFO(rest.error);
  CHECK(rest.status == exit_done);
  CHECK(read_race(file).points.size() == 1);
}
