// A report of a race goes into a file and comes back; a broken one is told where it is broken.

#include "app/session/race_file.h"

#include <nlohmann/json.hpp>

#include "app/session/machine.h"
#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

using Json = nlohmann::json;

/// Everything that a report can hold, with numbers that no shorter decimal is.
RaceReport full_report() {
  RaceReport report;
  report.machine = {.processor = "Xeon \"Gold\", 2.3 GHz",
                    .threads = 2,
                    .gpu = "NVIDIA H200",
                    .driver = "13.0",
                    .clocks = "at most 1980 MHz",
                    .program = "palimpsest 0.1.0 (8b2397777cd2)"};
  report.starts = {{"2026-11-22 09:30 UTC", "palimpsest bench"},
                   {"2026-11-22 10:30 UTC", "palimpsest bench --continue a.json"}};
  report.data = "random numbers";
  report.timing = {{"cpu", "everything"}, {"cuda", "kernels"}};
  report.roofs = {{"cpu", Precision::f32, {1.0 / 3 * 1e11, 2.0 / 3 * 1e12, "memcpy", "Eigen"}},
                  {"cuda", Precision::bf16, {4.3e12, 6.6e14, "cudaMemcpy", "tensor cores"}},
                  {"cuda", Precision::f64, {4.3e12, 5.1e13, "cudaMemcpy", "registers"}}};
  const RaceEntry entry = {.variant = "gated_deltanet",
                           .form = Form::chunkwise,
                           .device = "cpu",
                           .precision = Precision::f32,
                           .tokens = 1000,
                           .batches = 2,
                           .heads = 3,
                           .dk = 12,
                           .dv = 7,
                           .chunk_size = 16};
  report.points.push_back({.entry = entry,
                           .repeats = 11,
                           .warmed = true,
                           .compute = {0.1, 1.0 / 3, 0.7},
                           .transfers = {0.01, 0.02, 0.03},
                           .allocations = {1e-6, 2e-6, 3e-6},
                           .whole = {0.2, 0.4, 0.8},
                           .work = {1e9, 9e8, 1e6, 2e7, 3e7},
                           .kernel = KernelKind::registers});
  report.points.push_back({.entry = entry, .missing = "no such form, \"really\""});
  report.points.back().entry.form = Form::parallel;
  report.points.back().entry.chunk_size = 0;
  report.points.push_back({.entry = entry, .missing = "the device has no bf16"});
  report.points.back().entry.precision = Precision::bf16;
  report.left = 4;
  return report;
}

/// What parsing the report says after `change` was made to its JSON; empty if it is read.
template <class Change>
std::string problem(Change change) {
  Json json = Json::parse(race_json(full_report()));
  change(json);
  try {
    parse_race(json.dump());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a report comes back from its file as it was", "[race]") {
  const TemporaryFolder folder;
  for (const RaceReport& report : {full_report(), RaceReport{.machine = {.processor = "x", .threads = 1}}}) {
    const std::string text = race_json(report);
    CHECK(parse_race(text) == report);
    CHECK(holds_race(text));
    write_file(folder / "race.json", text);
    CHECK(read_race(folder / "race.json") == report);
  }
  CHECK_FALSE(holds_race("{}"));
  CHECK_FALSE(holds_race("[1"));
}

TEST_CASE("a report tells other readers what follows from it", "[race]") {
  const Json json = Json::parse(race_json(full_report()));
  CHECK(json.at("palimpsest_race") == 1);
  CHECK(json.at("complete") == false);
  CHECK(json.at("points")[0].at("roof_fraction") == roof_fraction(full_report().points[0], full_report()));
  CHECK(json.at("points")[0].at("roof_fraction").get<double>() > 0);
  CHECK_FALSE(json.at("points")[1].contains("compute_s"));
  CHECK(json.at("crossovers") == Json::array());
}

TEST_CASE("a file that is no report says what it seems to be, and is named", "[race]") {
  const TemporaryFolder folder;
  const auto told = [&](const std::string& text) {
    write_file(folder / "other.json", text);
    try {
      read_race(folder / "other.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(told("{\"a\": 1"), says("other.json: it is not valid JSON"));
  CHECK_THAT(told("[1, 2]"),
             says("it is no report of `palimpsest bench` but seems to be a list of 2 entries"));
  CHECK_THAT(told(R"({"palimpsest_places": 1, "places": []})"), says("pinned places of Palimpsest"));
  CHECK_THROWS_WITH(read_race(folder / "none.json"), says("no such file"));
}

TEST_CASE("a broken report is told by entry, field and what is expected", "[race]") {
  CHECK(problem([](Json&) {}).empty());
  struct Broken {
    const char* message;
    std::function<void(Json&)> change;
  };
  const auto point = [](Json& json) -> Json& { return json["points"][0]; };
  const Broken all[] = {
      {"\"palimpsest_race\" is 2; this program reads version 1", [](Json& j) { j["palimpsest_race"] = 2; }},
      {"\"points\" is missing", [](Json& j) { j.erase("points"); }},
      {"\"points\" is object; expected a list", [](Json& j) { j["points"] = Json::object(); }},
      {"\"left\" is -1; expected a whole number from 0", [](Json& j) { j["left"] = -1; }},
      {"\"machine\": \"threads\" is missing", [](Json& j) { j["machine"].erase("threads"); }},
      {"\"machine\": \"threads\" is string; expected a whole number",
       [](Json& j) { j["machine"]["threads"] = "2"; }},
      {"start 2: \"date\" is missing", [](Json& j) { j["starts"][1].erase("date"); }},
      {"timing 1: \"words\" is missing", [](Json& j) { j["timing"][0].erase("words"); }},
      {"roof 1: \"bytes_per_second\" is -1; expected 0 or a number from 1e-30 to 1e+30",
       [](Json& j) { j["roofs"][0]["bytes_per_second"] = -1; }},
      {"point 1: \"work\": \"needed_flops\" is 1e+300; expected 0 or a number from 1e-30 to 1e+30",
       [&](Json& j) { point(j)["work"]["needed_flops"] = 1e300; }},
      {"point 1: \"compute_s\": \"low\" is 1e-300; expected 0 or a number from 1e-09 to 1000000000",
       [&](Json& j) { point(j)["compute_s"]["low"] = 1e-300; }},
      {"point 1: \"whole_s\": \"high\" is 10000000000; expected 0 or a number from 1e-09 to 1000000000",
       [&](Json& j) { point(j)["whole_s"]["high"] = 1e10; }},
      {"point 1: \"variant\" is missing", [&](Json& j) { point(j).erase("variant"); }},
      {"point 1: \"form\" is \"fast\"; expected one of: recurrent",
       [&](Json& j) { point(j)["form"] = "fast"; }},
      {"point 1: \"precision\" is \"f8\"; expected one of: f64, f32",
       [&](Json& j) { point(j)["precision"] = "f8"; }},
      {"point 1: \"tokens\" is 0; expected a whole number from 1 to 16777216",
       [&](Json& j) { point(j)["tokens"] = 0; }},
      {"expected a whole number from 1 to 16777216", [&](Json& j) { point(j)["tokens"] = 1 << 25; }},
      {"point 1: \"heads\" is 65536; expected a whole number from 1 to 65535",
       [&](Json& j) { point(j)["heads"] = 65536; }},
      {"point 1: \"dv\" is 8193; expected a whole number from 1 to 8192",
       [&](Json& j) { point(j)["dv"] = 8193; }},
      {"point 1: \"chunk\" is 0; expected a whole number from 1", [&](Json& j) { point(j)["chunk"] = 0; }},
      {"point 2: \"chunk\" is 16; expected a whole number from 0 to 0",
       [](Json& j) { j["points"][1]["chunk"] = 16; }},
      {"point 1: \"kernel\" is \"magic\"; expected one of: plain kernel, in registers, tensor cores",
       [&](Json& j) { point(j)["kernel"] = "magic"; }},
      {"point 2: \"missing\" is empty", [](Json& j) { j["points"][1]["missing"] = ""; }},
      {"point 1: \"compute_s\" is missing", [&](Json& j) { point(j).erase("compute_s"); }},
      {"point 1: \"compute_s\" is number; expected an object", [&](Json& j) { point(j)["compute_s"] = 1; }},
      {"point 1: \"compute_s\": \"median\" is missing",
       [&](Json& j) { point(j)["compute_s"].erase("median"); }},
      {"point 1: \"whole_s\": low 9, median 0.4 and high 0.8 are not in ascending order",
       [&](Json& j) { point(j)["whole_s"]["low"] = 9; }},
      {"point 1: \"work\": \"flops\" is null; expected a number",
       [&](Json& j) { point(j)["work"]["flops"] = nullptr; }},
      {"point 1: \"repeats\" is 0; expected a whole number from 1",
       [&](Json& j) { point(j)["repeats"] = 0; }},
      {"point 4 is there twice", [&](Json& j) { j["points"].push_back(point(j)); }},
      {"point 1 is number; expected an object", [](Json& j) { j["points"][0] = 3; }},
  };
  for (const Broken& broken : all) {
    INFO(broken.message);
    CHECK_THAT(problem(broken.change), says(broken.message));
  }
}

TEST_CASE("a report has as many points as can be drawn", "[race]") {
  Json json = Json::parse(race_json(full_report()));
  const Json missing = json["points"][1];
  json["points"] = Json::array();
  for (int i = 1; i <= 100'001; ++i) {
    json["points"].push_back(missing);
    json["points"].back()["tokens"] = i;
  }
  CHECK_THROWS_WITH(parse_race(json.dump()), says("a report has at most 100000 points"));
  json["points"].erase(0);
  CHECK(parse_race(json.dump()).points.size() == 100'000);
}

TEST_CASE("points become lines of CSV with as many fields as names", "[race]") {
  const std::string csv = race_csv(full_report());
  CHECK_THAT(csv, says("gated_deltanet,chunkwise,cpu,f32,1000,2,3,12,7,16,11,0.1,0.3333333333333333,0.7,"));
  CHECK_THAT(csv, says(",\"no such form, \"\"really\"\"\"\n"));
  const auto fields = [](std::string_view line) {
    bool quoted = false;
    std::ptrdiff_t commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    return commas + 1;
  };
  std::istringstream lines(csv);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(fields(line) == 26);
  CHECK(count == 4);
}

TEST_CASE("this machine has a processor, threads and a date", "[race]") {
  const RaceMachine machine = this_machine("a program");
  CHECK_FALSE(machine.processor.empty());
  CHECK(machine.threads > 0);
  CHECK(machine.program == "a program");
  CHECK(machine.gpu.empty() == machine.driver.empty());
  CHECK_THAT(present_date(), says(" UTC") && says("20"));
}
