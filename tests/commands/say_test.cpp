#include <nlohmann/json.hpp>

#include "app/commands/command_line.h"
#include "tests/commands/cli.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::string jars =
    "The red jar holds a coin. The blue jar holds a map. Now the red jar holds a bell. Now the red jar holds "
    "a lamp. What does the red jar hold? The red jar holds a";

}  // namespace

TEST_CASE("say tells what comes next, as trained and with a layer changed", "[say]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "said.json").string();
  const Ran ran = done({"say", jars, "--do", "only-add:2", "--json", file});
  CHECK_THAT(ran.out, says(" lamp       0.9999   bell       0.9896"));
  const auto json = nlohmann::json::parse(read_file(file));
  CHECK(json.at("ids").size() == 43);
  CHECK(json.at("pieces").at(2) == " red");
  CHECK(json.at("loss").size() == 42);
  REQUIRE(json.at("top").size() == 5);
  CHECK(json.at("top").at(0).at("piece") == " bell");
  CHECK(json.at("top").at(0).at("probability").get<double>() == Approx(0.98958).margin(1e-4));
}

TEST_CASE("an experiment writes its table, for people and as csv", "[say]") {
  const TemporaryFolder folder;
  const std::string file = (folder / "right.csv").string();
  const Ran ran =
      done({"experiment", "--texts", "2", "--overwritten", "1", "--do", "only-add:2", "--csv", file});
  CHECK_THAT(ran.out, says("right_as_trained"));
  CHECK_THAT(read_file(file), says("overwritten,texts,right_as_trained,older_as_trained,right_changed") &&
                                  says("\n0,2,2,0,2,0\n"));
  check_failure({"experiment", "--kind", "cats"}, exit_bad_usage, "no kind of text \"cats\"");
  check_failure({"experiment", "--texts", "0"}, exit_bad_usage, "--texts");
}

TEST_CASE("views take a text as their data", "[say]") {
  CHECK_THAT(done({"show", "heads", "--text", jars}).out,
             says("the answer is \" lamp\", 0.9999") && says("if it only adds"));
  CHECK_THAT(
      done({"show", "answers", "--text", jars, "--layer", "1", "--head", "0", "--do", "only-add:1"}).out,
      says("Linear attention"));
  check_failure({"show", "heads", "--data", "preset:overwrite"}, exit_bad_usage, "give --text");
  check_failure({"show", "answers", "--layer", "1"}, exit_bad_usage, "--layer belongs to a text");
  check_failure({"show", "answers"}, exit_bad_usage, "give --capture or --text");
}

TEST_CASE("say refuses what it cannot read, by name and number", "[say]") {
  check_failure({"say", " \n"}, exit_bad_usage, "the text has no words");
  std::string long_text;
  for (int i = 0; i < 2100; ++i) long_text += " red";
  check_failure({"say", long_text}, exit_bad_usage, "the text has 2101 tokens; expected at most 2048");
  check_failure({"say", jars, "--do", "only-add:4"}, exit_bad_usage, "there is no layer 4; the model has 4");
  check_failure({"say", jars, "--model", "nothing"}, exit_bad_usage, "there is no model \"nothing\"");
  check_failure({"say", jars, "--precision", "bf16"}, exit_unsupported, "bf16");
  const TemporaryFolder folder;
  check_refused({"say", jars, "--json", folder / "none/said.json"}, exit_bad_usage,
                "said.json: cannot be written");
  write_file(folder / "tokenizer.json", "{}");
  check_failure({"say", jars, "--tokenizer", folder / "tokenizer.json"}, exit_bad_usage,
                "tokenizer.json: cannot be read as a tokenizer: its model is not BPE");
}
