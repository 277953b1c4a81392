#include <nlohmann/json.hpp>

#include "core/contract/variant.h"
#include "core/proof/faults.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The arguments of the command that gives a row of a report again.
std::vector<std::string> reproducing(const nlohmann::json& row) {
  std::vector<std::string> words = arguments(row.at("reproduction").get<std::string>());
  REQUIRE(words.front() == "palimpsest");
  words.erase(words.begin());
  return words;
}

/// Arrays of two tokens, of which the second asks with this number.
Arrays two_tokens(double asked) {
  const Array numbers({2, 1}, std::vector<double>{1, 2});
  return {{"q", Array({2, 1}, std::vector<double>{1, asked})}, {"k", numbers}, {"v", numbers}};
}

/// A verification, and the report that it wrote.
struct Verified {
  Ran ran;
  std::string text = {};
  nlohmann::json report = {};
};

/// `palimpsest ARGUMENTS... --json FILE`, which must end in one of these ways.
Verified verified(const std::vector<std::string>& words, const std::vector<int>& ends = {exit_done}) {
  const TemporaryFolder folder;
  const std::string file = folder / "report.json";
  Verified all{.ran = palimpsest_with(joined(words, {"--json", file}))};
  INFO(all.ran.out << all.ran.error);
  REQUIRE(std::ranges::count(ends, all.ran.status) == 1);
  CHECK(all.ran.error.empty());  // no progress where there is no terminal
  all.text = read_file(file);
  all.report = nlohmann::json::parse(all.text);
  return all;
}

}  // namespace

TEST_CASE("verify checks only what it is asked for and writes a report", "[verify]") {
  const auto [ran, text, report] = verified(
      arguments("verify --variant linear --variant gla --form chunkwise --precision f32 --device cpu"));
  CHECK_THAT(ran.out, says("linear") && says("gla") && says("chunkwise"));
  CHECK(report.at("passed") == true);
  CHECK(report.at("complete") == true);
  std::map<std::string, int> seen;
  for (const auto& result : report.at("results")) {
    ++seen[result.at("variant")];
    CHECK(result.at("form") == "chunkwise");
    CHECK(result.at("precision") == "f32");
  }
  CHECK(seen.size() == 2);
  CHECK(seen.at("gla") == 2);  // both orders of reading and writing
}

TEST_CASE("verify draws random cases, in any number of threads", "[verify]") {
  const auto in_threads = [](const char* jobs) {
    return verified({"verify", "--cases", "40", "--seed", "3", "--jobs", jobs});
  };
  const Verified one = in_threads("1");
  CHECK_THAT(one.ran.out, says(" of 40 cases agree with the f64 recurrence"));
  CHECK(in_threads("3").text == one.text);
  CHECK(one.report.at("cases") == 40);
}

TEST_CASE("the command that a report names gives the same error again", "[verify]") {
  const auto results = verified({"verify", "--cases", "60", "--seed", "5"}).report.at("results");
  for (const auto& result : results) {
    INFO(result.dump(1));
    const auto again = verified(reproducing(result)).report.at("results");
    REQUIRE(again.size() == 1);
    for (const char* same :
         {"variant", "options", "device", "form", "precision", "error", "where", "reproduction"}) {
      INFO(same);
      CHECK(again[0].value(same, nlohmann::json()) == result.value(same, nlohmann::json()));
    }
    CHECK(again[0].at("runs") == 1);
  }
}

TEST_CASE("verify runs the lengths and sizes that it is asked for, and counts them", "[verify]") {
  const auto report =
      verified(arguments("verify --variant kda --tokens 0,17,400 --dk 33 --dv 21 --device cpu")).report;
  std::map<int, int> rows;
  for (const auto& length : report.at("lengths")) {
    rows[length.at("tokens").get<int>()] += length.at("rows").get<int>();
    CHECK(length.at("rows") == length.at("of_rows"));
  }
  const int all = static_cast<int>(report.at("results").size());
  CHECK(rows == std::map<int, int>{{0, all}, {17, all}, {400, all}});
  for (const auto& result : report.at("results"))
    CHECK_THAT(result.at("reproduction").get<std::string>(), says(",K=33,V=21,"));
}

TEST_CASE("verify refuses numbers and cases that make no sense, in one line", "[verify]") {
  const auto refused = [](const std::vector<std::string>& more, const std::string& message) {
    check_refused(joined({"verify"}, more), exit_bad_usage, message);
  };
  for (const char* count : {"0", "-1", "1e9", "1000000000", "many", "2.5", "99999999999999999999"})
    refused({"--cases", count},
            "--cases is \"" + std::string(count) + "\"; expected a whole number from 1 to 100000000");
  for (const char* jobs : {"0", "-1", "two", "100000"})
    refused({"--cases", "1", "--jobs", jobs},
            "--jobs is \"" + std::string(jobs) + "\"; expected a whole number from 1 to 1024");
  for (const char* seed : {"-1", "x", "1.5"}) refused({"--seed", seed}, "--seed is \"");
  refused({"--form", "serial"}, "no form \"serial\"");
  refused({"--case", "random:T=5"}, "--case needs --variant");
  refused({"--case", "random:T=5", "--variant", "gla", "--variant", "kda"}, "--case needs --variant, once");
  refused({"--case", "random:T=ten", "--variant", "gla"}, "T is \"ten\"; expected a whole number");
  refused({"--case", "random:T=5", "--variant", "gla", "--cases", "3"}, "give one of them");
  refused({"--tokens", "1,two"}, "--tokens is \"two\"; expected a whole number from 0 to 1048576");
  refused({"--tokens", "5", "--cases", "3"}, "--tokens excludes --cases");
  refused({"--dk", "5", "--dv", "5,6"}, "--dk has 1 sizes and --dv 2");
  refused({"--dv", "0"}, "--dv is \"0\"");
  refused({"--chunk", "7"}, "--chunk requires --case");
  refused({"--case", "random:T=5", "--variant", "gla", "--chunk", "0"}, "--chunk is \"0\"");
  refused({"--param", "scale=2"}, "--param belongs to --case");
  refused({"--variant", "transformer"}, "transformer");
  refused({"--variant", "linear", "--json", "/absent/report.json"}, "/absent/report.json");
  refused({"--fault", "typo"}, "solve-sign");
}

TEST_CASE("verify of a form that does not exist says why", "[verify]") {
  for (const Variant& variant : variants()) {
    if (!variant.rule->missing(Form::parallel, resolve(variant, {}))) continue;
    INFO(variant.id);
    check_failure({"verify", "--variant", variant.id, "--case", "random:T=5", "--form", "parallel"},
                  exit_unsupported);
  }
}

TEST_CASE("what is wrong in the file of a case names it", "[verify]") {
  const TemporaryFolder folder;
  const std::string file = folder / "case.npz";
  write_npz(file, two_tokens(quiet_nan));
  for (const char* more : {"", "--fault all"})
    check_failure(joined({"verify", "--case", file, "--variant", "linear"}, arguments(more)), exit_bad_usage,
                  file + ": array \"q\": index [1, 0] is nan");
}

TEST_CASE("a report can name a case whose path is not UTF-8", "[verify]") {
  const TemporaryFolder folder;
  const std::string file = folder / "\xFF.npz";
  write_npz(file, two_tokens(2));
  for (const char* more : {"", "--fault all"})
    CHECK_THAT(verified(joined({"verify", "--case", file, "--variant", "linear"}, arguments(more)),
                        {exit_done, exit_failed_checks})
                   .text,
               says("\xEF\xBF\xBD.npz"));
}

TEST_CASE("what is asked for twice is checked once, and an empty value is no value", "[verify]") {
  const Ran once = done(arguments("verify --variant retnet --form recurrent"));
  for (const char* more : {"--variant retnet retnet --form recurrent recurrent --precision f64 f32",
                           "--variant retnet --form recurrent,recurrent --precision f64,f32"})
    CHECK(done(joined({"verify"}, arguments(more))).out == once.out);
  for (const char* option : {"--cases", "--jobs", "--case", "--json"}) {
    INFO(option);
    CHECK(palimpsest_with({"verify", "--variant", "retnet", option, ""}).status == exit_bad_usage);
  }
  CHECK(palimpsest_with({"info", ""}).status == exit_bad_usage);
}

TEST_CASE("what there is not to be verified is told with its reason", "[verify]") {
  for (const auto& [line, reason] :
       {std::pair("verify --variant softmax --form two-pass --cases 2", "no random case has such a form"),
        {"verify --variant softmax --form two-pass", "Every query needs the keys themselves"},
        {"verify --fault solve-sign --precision f32", "step by step in f64"}})
    check_failure(arguments(line), exit_unsupported, reason);
}

TEST_CASE("verify with a fault fails and names the first step that is off", "[verify]") {
  const auto [ran, text, report] =
      verified(arguments("verify --variant gated_deltanet --fault undecayed-erase"), {exit_failed_checks});
  CHECK_THAT(ran.out,
             says("fails       undecayed-erase in gated_deltanet order=update_first recurrent") &&
                 says("token 0, block 0, operation read (Prediction v̂): old[") &&
                 says("8 of 8 faulty forms fail."));  // four forms, two orders of reading and writing
  REQUIRE(report.at("faulty").size() == 8);
  CHECK(report.at("faulty")[0].at("departure").at("operation") == "read");
}

TEST_CASE("a fault that no form can have fails nothing, and the reason is told", "[verify]") {
  CHECK_THAT(done({"verify", "--variant", "linear", "--fault", "momentum-dropped"}).out,
             says("0 of 0 faulty forms fail.") && says("it needs a momentum"));
}

TEST_CASE("the faults are listed by name", "[verify]") {
  const Ran listed = done({"verify", "--faults"});
  for (const Fault& fault : faults()) CHECK_THAT(listed.out, says(fault.id) && says(fault.sentence));
}

TEST_CASE("faults are looked for in the cases that are asked for, in any number of threads", "[verify]") {
  const auto in_threads = [](const char* jobs) {
    return verified(
        joined(arguments("verify --fault solve-sign --fault edge-lost --variant deltanet --variant kda "
                         "--form chunkwise --device cpu --precision f64 --cases 20 --seed 3"),
               {"--jobs", jobs}),
        {exit_failed_checks});
  };
  const auto [ran, text, json] = in_threads("1");
  CHECK(in_threads("3").text == text);
  CHECK(json.at("cases") == 20);
  CHECK(json.at("complete") == true);
  REQUIRE(json.at("faulty").size() == 8);  // two faults, rules and orders
  for (const auto& faulty : json.at("faulty")) CHECK(faulty.at("form") == "chunkwise");
}

TEST_CASE("the command that a faulty form names shows the fault again", "[verify]") {
  const auto faulty = [](const std::vector<std::string>& arguments) {
    return verified(arguments, {exit_done, exit_failed_checks}).report.at("faulty");
  };
  for (const char* variant : {"gated_deltanet", "ttt_mlp", "softmax"}) {
    for (const auto& form : faulty({"verify", "--fault", "all", "--variant", variant, "--cases", "4"}))
      CHECK(faulty(reproducing(form)) == nlohmann::json::array({form}));
  }
}

TEST_CASE("a fault in one case of one's own is noticed where the case can show it", "[verify]") {
  const auto faulty = [](const char* words) {
    return palimpsest_with({"verify", "--fault", "solve-sign", "--variant", "deltanet", "--form", "chunkwise",
                            "--case", words, "--chunk", "7", "--param", "scale=0.5"});
  };
  const Ran noticed = faulty("random:T=2");
  CHECK(noticed.status == exit_failed_checks);
  CHECK_THAT(noticed.out, says("1 of 1 faulty forms fail."));
  const Ran unnoticed = faulty("random:T=1");
  CHECK(unnoticed.status == exit_done);
  CHECK_THAT(unnoticed.out, says("NOT DETECTED") && says("--case random:T=1,") && says("--param scale=0.5") &&
                                says("--fault solve-sign"));
}

TEST_CASE("forms without a fault are one line for each reason, and a phase stands beside its block",
          "[verify]") {
  const Ran ran = palimpsest_with({"verify", "--variant", "deltanet", "--fault", "all"});
  CHECK(ran.status == exit_failed_checks);
  CHECK_THAT(ran.out, says("8 forms of deltanet: it needs a momentum"));
  CHECK_THAT(ran.out, says("(first the memory before every chunk), operation solve"));
}
