// What the program computes from a file is what the library computes, for every variant with everything it
// takes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <semaphore>

#include "app/commands/command_line.h"
#include "app/commands/options.h"
#include "app/session/devices.h"
#include "core/cases/random_case.h"
#include "core/contract/sequence.h"
#include "core/proof/verify.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"
#include "tests/commands/cli.h"
#include "tests/commands/program.h"
#include "tests/heads.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// One head of random arrays.
Arrays one_head(const std::string& variant, std::uint64_t seed, bool initial_state = false) {
  const Variant& known = find_variant(variant);
  const RandomCase random{
      .tokens = 17, .dk = 6, .dv = 5, .earlier = 3, .initial_state = initial_state, .seed = seed};
  return random_arrays(known, random_settings(known, {}, 1), random);
}

bool has_tokens(const std::string& variant, const std::string& name) {
  for (const Input& input : all_inputs(find_variant(variant))) {
    if (input.name == name) return !input.shape.empty() && input.shape.front() == "n";
  }
  return name == "o";
}

Arrays stacked(const std::string& variant, const std::vector<Arrays>& heads, Index batches, int rank) {
  Arrays all;
  for (const auto& [name, first] : heads.front()) {
    std::vector<const Array*> arrays;
    for (const Arrays& head : heads) arrays.push_back(&head.at(name));
    all[name] = testing::stacked(arrays, batches, rank, has_tokens(variant, name));
  }
  return all;
}

/// Some rows of an array.
Array part(const Array& array, Index first, Index count) {
  const Index columns = array.size() / array.shape[0];
  std::vector<Index> shape = array.shape;
  shape[0] = count;
  std::vector<double> values;
  for (Index i = first * columns; i < (first + count) * columns; ++i) values.push_back(array[i]);
  return {shape, std::move(values)};
}

/// The same of all arrays of a head that have tokens.
Arrays part(const std::string& variant, Arrays arrays, Index first, Index count) {
  for (auto& [name, array] : arrays) {
    if (has_tokens(variant, name)) array = part(array, first, count);
  }
  return arrays;
}

/// compare().error of two arrays, and a note for the next check; infinity where shapes differ.
double error_of(const std::string& name, const Array& x, const Array& y) {
  const auto column = [](const Array& array) {
    return MatrixView(array, 0, array.size(), 1, 1).all<double>();
  };
  const Disagreement worst = compare(name, column(x), column(y));
  UNSCOPED_INFO("array \"" << name << "\" of shape " << to_string(x.shape) << ", expected "
                           << to_string(y.shape) << ": element " << worst.row << " is " << worst.got
                           << ", expected " << worst.expected);
  return x.shape == y.shape ? worst.error : infinity;
}

/// Every option and parameter of settings, written out.
std::vector<std::string> as_arguments(const Settings& settings) {
  std::vector<std::string> arguments;
  const auto add = [&](const auto& values) {
    for (const auto& [name, value] : values)
      arguments.insert(arguments.end(), {"--param", fmt::format("{}={}", name, value)});
  };
  add(settings.options);
  add(settings.parameters);
  return arguments;
}

/// A number for every parameter that the variant cannot do without.
std::vector<std::string> settings_for(const std::string& variant) {
  const Variant& known = find_variant(variant);
  Settings needed{.parameters = random_settings(known, {}, 1).parameters};
  for (const auto& [name, value] : resolve(known, {}).parameters) needed.parameters.erase(name);
  return as_arguments(needed);
}

}  // namespace

TEST_CASE("heads and batches come out as they do one by one", "[run]") {
  const Run run;
  for (const Variant& variant : variants()) {
    for (const auto& [batches, rank] : {std::pair<Index, int>(1, 3), std::pair<Index, int>(2, 4)}) {
      for (const bool initial_state : {false, true}) {
        INFO(variant.id << " rank " << rank);
        std::vector<Arrays> heads;
        std::vector<Arrays> expected;
        for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(3 * batches); ++seed) {
          heads.push_back(one_head(variant.id, seed, initial_state));
          expected.push_back(run.results(variant.id, heads.back(), settings_for(variant.id)));
        }
        const Arrays all =
            run.results(variant.id, stacked(variant.id, heads, batches, rank), settings_for(variant.id));
        const Arrays wanted = stacked(variant.id, expected, batches, rank);
        REQUIRE(all.size() == wanted.size());
        for (const auto& [name, array] : wanted) {
          INFO(name);
          CHECK(all.at(name).shape == array.shape);
          CHECK(all.at(name).values() == array.values());
        }
      }
    }
  }
}

TEST_CASE("a run goes on where another one ended", "[run]") {
  const Run run;
  for (const Variant& variant : variants()) {
    if (!variant.options.empty() && variant.id == "linear") continue;
    const auto parameters = random_settings(variant, {}, 1).parameters;
    if (parameters.contains("batch") && 10 % static_cast<Index>(parameters.at("batch")) != 0) continue;
    INFO(variant.id);
    const Arrays whole = one_head(variant.id, 1);
    Arrays second = part(variant.id, whole, 10, 7);
    const Arrays expected = run.results(variant.id, whole, settings_for(variant.id));
    const Arrays half = run.results(variant.id, part(variant.id, whole, 0, 10), settings_for(variant.id));
    const Settings settings = resolve(variant, {});
    const std::vector<std::string> states = states_of(variant, settings);
    for (const std::string& state : states)
      second[initial_name(variant, settings, state)] = half.at(final_name(states.size(), state));
    const Arrays rest = run.results(variant.id, second, settings_for(variant.id));
    CHECK(error_of("o", rest.at("o"), part(expected.at("o"), 10, 7)) < 1e-14);
    for (const std::string& state : states) {
      const std::string name = final_name(states.size(), state);
      CHECK(error_of(name, rest.at(name), expected.at(name)) < 1e-14);
    }
  }
}

TEST_CASE("an empty sequence gives no rows and the initial state", "[run]") {
  const Run run;
  Arrays arrays = {{"q", constant({0, 4}, 0)},
                   {"k", constant({0, 4}, 0)},
                   {"v", constant({0, 2}, 0)},
                   {"initial_state", Array({4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8})}};
  for (const char* form : {"recurrent", "chunkwise", "parallel"}) {
    const Arrays results = run.results("linear", arrays, {"--form", form});
    CHECK(results.at("o").shape == std::vector<Index>{0, 2});
    CHECK(results.at("final_state").values() == arrays.at("initial_state").values());
  }
}

TEST_CASE("the form auto is one of two, says why, and gives its bits", "[run]") {
  const Run run;
  const auto chosen = [&](const char* id, std::vector<std::string> more, const char* form, const char* why) {
    INFO(id);
    const Arrays arrays = one_head(id, 1);
    more.insert(more.end(), {"--form", "auto"});
    const Ran ran = run(id, arrays, more);
    REQUIRE(ran.status == exit_done);
    CHECK_THAT(ran.error, says(std::string(form) + " form: " + why));
    const Arrays got = run.result();
    more.back() = form;
    CHECK(run.results(id, arrays, more).at("o").values() == got.at("o").values());
  };
  chosen("gated_deltanet", {"--precision", "f32"}, "recurrent", "its kernel on cpu");
  chosen("softmax", {}, "chunkwise", "");
  chosen("softmax", {"--precision", "f32"}, "chunkwise", "it has a fast kernel in f32 on cpu");
  write_npz(run.input(), one_head("linear", 1));
  check_failure(program({"run", "linear", "--form", "auto", "--precision", "bf16", "--input", run.input(),
                         "--output", run.output()}),
                exit_unsupported, "bf16");
  check_failure(
      program({"run", "linear", "--form", "fast", "--input", run.input(), "--output", run.output()}),
      exit_bad_usage,
      "there is no form \"fast\"; expected one of: recurrent, chunkwise, two-pass, parallel, auto");
}

TEST_CASE("what the variant does not know is named in one line, some of many, and not even read", "[run]") {
  const Run run;
  Arrays arrays = one_head("linear", 1);
  const Arrays expected = run.results("linear", arrays);
  arrays["beta"] = constant({17}, 0.5);
  arrays["o"] = Array({2}, std::vector<double>{1, 2});
  write_npz(run.input(), arrays);
  const Npz npz = read_npz(run.input(), {}, [](std::string_view name) { return name == "q"; });
  CHECK(npz.arrays.size() == 1);
  CHECK(npz.unread == std::vector<std::string>{"beta", "k", "o", "v"});
  write_npz(run.input(), arrays, {{"tokens", "[]"}, {"meta", "{}"}});
  const Ran ran = run.on_input("linear");
  CHECK(ran.status == exit_done);
  CHECK(ran.error == "palimpsest: " + run.input() + ": linear does not use: beta, meta, tokens\n");
  CHECK(run.result().at("o").values() == expected.at("o").values());
  CHECK_THAT(ran.out, says("the o in the input has the shape [2], not [17, 5], and was not compared"));
  for (int i = 10; i < 25; ++i) arrays["extra" + std::to_string(i)] = constant({}, 0);
  CHECK_THAT(run("linear", arrays).error, says("beta, extra10, ") && says("extra18 and 6 more\n"));
}

TEST_CASE("a number of --param goes before an array of the file", "[run]") {
  const Run run;
  Arrays arrays = one_head("linear", 1);
  const Arrays plain = run.results("linear", arrays);
  arrays["scale"] = constant({}, 2);
  CHECK(run.results("linear", arrays).at("o")[3] == 2 * plain.at("o")[3]);
  CHECK(run.results("linear", arrays, {"--param", "scale=4"}).at("o")[3] == 4 * plain.at("o")[3]);
}

TEST_CASE("options and parameters may follow one --param or several", "[run]") {
  const Run run;
  const Arrays arrays = one_head("kernel", 1);
  const Arrays once = run.results("kernel", arrays, {"--param", "feature_map=taylor2", "scale=0.5"});
  const Arrays twice =
      run.results("kernel", arrays, {"--param", "feature_map=taylor2", "--param", "scale=0.5"});
  CHECK(once.at("o").values() == twice.at("o").values());
  CHECK(once.at("final_z").shape == std::vector<Index>{1 + 6 + 21});
}

TEST_CASE("a random case can be asked for by its name", "[run]") {
  const Run run;
  done({"run", "kda", "--input", "random:T=9,K=4,V=3,state,g", "--output", run.output()});
  CHECK(run.result().at("o").shape == std::vector<Index>{9, 3});
}

TEST_CASE("a random case that makes no sense is refused", "[run]") {
  for (const char* input : {"random:T=ten", "random:T=-1", "random:K=0", "random:T=9223372036854775807",
                            "random:T=4,T=5", "random:g,g", "random:K=100000,T=100000"})
    check_failure({"run", "kda", "--input", input, "--output", "/dev/null/x"}, exit_bad_usage, input);
}

TEST_CASE("wrong values of the command line are refused in one line", "[run]") {
  const Run run;
  write_npz(run.input(), one_head("retnet", 1));
  const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
    check_failure(run.on_input("retnet", more), exit_bad_usage, message);
    CHECK_FALSE(std::filesystem::exists(run.output()));
  };
  for (const char* number : {"0.5x", "nan", "inf", "", " 0.5", "1e999", "0,5", "0x1p-1", "--1"})
    refused({"--param", std::string("gamma=") + number}, "--param gamma is \"");
  refused({"--param", "gamma=1.5"}, "expected a number in [0, 1]");
  refused({"--param", "gamma"}, "expected NAME=VALUE");
  refused({"--param", "=1"}, "expected NAME=VALUE");
  refused({"--param", "gamma=0.5", "--param", "gamma=0.6"}, "given twice");
  refused({"--param", "delta=0.5"}, "retnet has no parameter \"delta\"; it takes: order, scale, gamma");
  refused({}, run.input() + ": parameter gamma is missing");
  refused({"--form", "serial"},
          "no form \"serial\"; expected one of: recurrent, chunkwise, two-pass, parallel");
  refused({"--device", "tpu"}, "no device \"tpu\"; expected one of: cpu, cuda");
  refused({"--precision", "f16"}, "no precision \"f16\"; expected one of: f64, f32, tf32, bf16");
  for (const char* chunk : {"0", "-1", "8.5", "ten", "99999999999999999999"})
    refused({"--chunk", chunk}, "chunk");
  refused({"--frobnicate"}, "--frobnicate");
  refused({"--form"}, "--form");
}

TEST_CASE("options accept only their own words", "[run]") {
  const Run run;
  const Arrays arrays = one_head("linear", 1);
  for (const char* value : {"True", "1", "yes", ""})
    check_failure(run("linear", arrays, {"--param", std::string("causal=") + value}), exit_bad_usage,
                  "expected one of: true, false");
  run.results("linear", arrays, {"--param", "causal=false"});
}

TEST_CASE("an unknown variant lists what there is", "[run]") {
  const Ran ran = palimpsest_with({"run", "transformer", "--input", "x", "--output", "y"});
  CHECK(ran.status == exit_bad_usage);
  for (const Variant& variant : variants()) CHECK_THAT(ran.error, says(variant.id));
}

TEST_CASE("a device or a precision that is not there gives status 3 and the reason", "[run]") {
  const Run run;
  const Ran ran = run("linear", one_head("linear", 1), {"--device", "cuda"});
  // On a machine with a card the run is done, or the kernels say what they lack.
  if (ran.status != exit_done) check_failure(ran, exit_unsupported, "cuda");
  for (const std::string precision : {"bf16", "tf32"}) {
    check_failure(run("linear", one_head("linear", 1), {"--precision", precision}), exit_unsupported,
                  "cpu computes in f64 and f32; " + precision + " is for a device with tensor cores");
  }
}

TEST_CASE("a form whose matrices would need too much memory gives status 3 and the reason", "[run]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& asked, const std::string& words, const std::string& more) {
    check_failure(
        joined(arguments("run --input random:T=100000,K=1,V=1 " + asked), {"--output", folder / "x.npz"}),
        exit_unsupported, words, more);
  };
  refused("linear --form parallel", "the parallel form of 100000 tokens needs",
          "The chunkwise form gives the same result in small chunks");
  for (const std::string variant : {"linear", "deltanet", "softmax"})
    refused(variant + " --form chunkwise --chunk 1000000", "chunks of 100000 tokens",
            "Smaller chunks give the same result");
}

TEST_CASE("as many heads are computed at once as fit into memory", "[run]") {
  CHECK(heads_at_once(0, 8) == 8);
  CHECK(heads_at_once(byte_limit / 8, 8) == 8);
  CHECK(heads_at_once(byte_limit / 3.5, 8) == 3);
  CHECK(heads_at_once(byte_limit, 8) == 1);
  CHECK(heads_at_once(byte_limit * 9, 8) == 1);
}

TEST_CASE("results that are not finite are told with their place and reason", "[run]") {
  const Run run;
  Arrays arrays = {
      {"q", constant({3, 2, 2}, 1)}, {"k", constant({3, 2, 2}, -1000)}, {"v", constant({3, 2, 1}, 1)}};
  const Ran no_weights = run("kernel", arrays);
  CHECK(no_weights.status == exit_done);
  CHECK(is_one_line(no_weights.error));
  CHECK_THAT(no_weights.error,
             says("\"o\" is not finite from token 0 in head 0 (index [0, 0, 0] is") && says("add up to 0"));
  arrays = {{"q", constant({3, 2}, 1)}, {"k", constant({3, 2}, 1)}, {"v", constant({3, 1}, 1)}};
  std::get<0>(arrays.at("k").own_values())[2] = 1e200;
  std::get<0>(arrays.at("v").own_values())[1] = 1e200;
  const Ran overflow = run("linear", arrays);
  CHECK(overflow.status == exit_done);
  CHECK_THAT(overflow.error,
             says("\"o\" is not finite from token 1 (index [1, 0] is inf): numbers exceed the range of ") &&
                 says("\"final_state\" is not finite"));
  CHECK(run("linear", one_head("linear", 1)).error.empty());
}

TEST_CASE("an output that cannot be written is refused, and so is one over the input", "[run]") {
  const Run run;
  write_npz(run.input(), one_head("linear", 1));
  const std::string before = read_file(run.input());
  struct Refused {
    std::string asked, output, message;
  };
  for (const auto& [asked, output, message] :
       std::vector<Refused>{{"--input random:T=3", run.folder().path(), "is a folder"},
                            {"--input random:T=3", "", "\"\": cannot be written: is no file's name"},
                            {"--input random:T=3", run.folder() / "absent/out.npz", "there is no folder"},
                            {"--input " + run.input(), run.input(), "is the input"},
                            // This would be refused too, as too large: the output is looked at first.
                            {"--form parallel --input random:T=100000,K=1,V=1", "/nowhere/x.npz", ""}}) {
    CAPTURE(asked);
    check_failure(joined(arguments("run linear " + asked), {"--output", output}), exit_bad_usage, output,
                  message);
  }
  CHECK(read_file(run.input()) == before);
}

TEST_CASE("run --ask gives what the state left by a block answers, in every form") {
  const Run run;
  Arrays later = one_head("gated_deltanet", 2);
  later["initial_state"] = run.results("gated_deltanet", one_head("gated_deltanet", 1)).at("final_state");
  // A key and a value of 0 write nothing and erase nothing.
  Arrays silent = later;
  for (const char* name : {"k", "v"}) std::ranges::fill(std::get<0>(silent.at(name).own_values()), 0.0);
  const Array expected = run.results("gated_deltanet", silent).at("o");
  CHECK(error_of("o", run.results("gated_deltanet", later).at("o"), expected) > 1e-2);
  for (const char* form : {"recurrent", "chunkwise", "two-pass", "parallel"}) {
    INFO(form);
    const Arrays got = run.results("gated_deltanet", later, {"--ask", "--form", form, "--chunk", "5"});
    CHECK(got.size() == 1);  // no state: nothing was written
    CHECK(error_of("o", got.at("o"), expected) <= 1e-14);
  }
  CHECK(run("softmax", one_head("softmax", 1, true), {"--ask"}).status == exit_unsupported);
  const Ran nothing = run("gated_deltanet", one_head("gated_deltanet", 1), {"--ask"});
  check_failure(nothing, exit_bad_usage,
                "--ask: initial_state is missing; give what a run over the block of keys wrote as");
  CHECK(run("linear", one_head("linear", 1), {"--ask", "--device", "cuda"}).status == exit_unsupported);
}

TEST_CASE("run says what it took the arrays for", "[run]") {
  const Run run;
  std::vector<Arrays> heads;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) heads.push_back(one_head("kda", seed));
  const Ran ran = run("kda", stacked("kda", heads, 2, 4), {"--form", "two-pass", "--param", "scale=0.25"});
  CHECK(ran.status == exit_done);
  CHECK(ran.out == run.output() +
                       ": kda two-pass in f64 on cpu: 2 batches of 3 heads of 17 tokens, K 6, V 5, scale "
                       "0.25\n");
}

TEST_CASE("run says how far it is from the output that the input has", "[run]") {
  const Run run;
  Arrays arrays = one_head("gated_deltanet", 1);
  const Array o = run.results("gated_deltanet", arrays, {"--param", "scale=0.25"}).at("o");
  arrays["o"] = o;
  CHECK_THAT(run("gated_deltanet", arrays, {"--param", "scale=0.25"}).out,
             says("0.0e+00 from the o in the input") && !says("another scale"));
  // The scale forgotten: the factor is found.
  CHECK_THAT(run("gated_deltanet", arrays).out, says("3.0e+00 from the o in the input") &&
                                                    says("; 0.25 times this output differs by ") &&
                                                    says("another scale?"));
  // Something else wrong: no factor helps, and none is named.
  for (double& value : std::get<0>(arrays.at("v").own_values())) value = std::abs(value);
  CHECK_THAT(run("gated_deltanet", arrays).out, says("from the o in the input") && !says("another scale"));
  std::ranges::fill(std::get<0>(arrays.at("o").own_values()), 0.0);
  CHECK_THAT(run("gated_deltanet", arrays).out, says("from the o in the input") && !says("another scale"));
  // What is no number is not taken for agreement.
  arrays["o"] = o;
  std::get<0>(arrays.at("o").own_values())[3] = quiet_nan;
  CHECK_THAT(run("gated_deltanet", arrays).out,
             says("the o in the input is not finite, and was not compared"));
}

TEST_CASE("a parameter that f32 cannot hold is refused in every head", "[run]") {
  const Run run;
  Arrays heads = stacked("linear", {one_head("linear", 1), one_head("linear", 2)}, 1, 3);
  heads["scale"] = Array({2}, std::vector<double>{1, 1e-50});
  check_failure(run("linear", heads, {"--precision", "f32"}), exit_bad_usage,
                "parameter scale is 1e-50, which f32 cannot hold");
  Arrays ridge = one_head("mesanet", 1);
  for (double& value : std::get<0>(ridge.at("ridge").own_values())) value *= 1e-60;
  CHECK_THAT(run("mesanet", ridge, {"--precision", "f32"}).error, says("which is 0 in f32"));
}

TEST_CASE("LaCT goes on where it ended with what a run has written", "[run]") {
  const Run run;
  const Variant& lact = find_variant("lact");
  const RandomCase random{.tokens = 12, .dk = 6, .dv = 5, .seed = 3};
  const std::vector<std::string> batch = {"--param", "batch=4"};
  const Settings settings = random_settings(lact, {.parameters = {{"batch", 4}}}, 1);
  const Arrays whole = random_arrays(lact, settings, random);
  const Array expected = run.results("lact", whole, batch).at("final_S");
  const Arrays left = run.results("lact", part("lact", whole, 0, 8), batch);
  Arrays rest = part("lact", whole, 8, 4);
  rest["initial_S"] = left.at("final_S");
  rest["initial_M"] = left.at("final_M");
  rest["column_norm"] = left.at("column_norm");
  CHECK(error_of("final_S", run.results("lact", rest, batch).at("final_S"), expected) <= 1e-13);
  rest.erase("column_norm");  // the norms of the last weights are not those of the first
  CHECK(error_of("final_S", run.results("lact", rest, batch).at("final_S"), expected) > 1e-9);
  CHECK_THAT(run("lact", part("lact", whole, 0, 6), batch).out,
             says("no run can continue from its states: they are inside an inner batch of 4"));
}

namespace {

/// `palimpsest run` of linear attention on zeros of so many heads of 5 tokens; gives what it wrote to the
/// standard error.
std::string errors_of_run(Index heads, bool shows_progress) {
  const Run run;
  const Array zeros = constant({5, heads, 3}, 0);
  write_npz(run.input(), {{"q", zeros}, {"k", zeros}, {"v", zeros}});
  std::ostringstream out;
  std::ostringstream error;
  CLI::App command;
  const Task task = add_run(CommandOptions(command), {out, error, shows_progress});
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
    const std::jthread line = show_waiting(console, [&] {
      asked.release();
      return fmt::format("asked {} times", ++times);
    });
    for (int i = 0; i < 3; ++i) asked.acquire();
  }
  CHECK_THAT(error.str(), says("asked 1 times, "));
  CHECK_THAT(error.str(), says("asked 2 times"));
  CHECK(error.str().ends_with("\r\x1b[K"));
}

namespace {

/// The file holds what the library gives, rounded to f32 where it was computed in f32.
void check_array(const Arrays& results, const std::string& name, const Matrix<double>& expected,
                 Precision precision) {
  INFO(name);
  REQUIRE(results.contains(name));
  const Array& array = results.at(name);
  REQUIRE(array.size() == expected.size());
  CHECK(array.is_f32() == (precision == Precision::f32));
  for (Index flat = 0; flat < array.size(); ++flat) {
    const double value = expected.data()[flat];
    const double written = array.is_f32() ? static_cast<double>(static_cast<float>(value)) : value;
    if (array[flat] == written) continue;
    CHECK(array[flat] == written);
    return;
  }
}

}  // namespace

TEST_CASE("the program runs every variant, with all its arrays, options and parameters, in every form",
          "[program]") {
  std::vector<OptionChoice> choices;
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) choices.push_back({&variant, given});
  }
  const Run run;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    // Drawn parameters, chunk sizes and lengths; arrays that may be left out are given in every second case.
    VerifyCase each = random_verify_case({choices[i]}, 1, static_cast<Index>(i));
    each.random.tokens = static_cast<Index>(3 + i % 15);
    each.random.initial_state = i % 2 == 0;
    const Variant& variant = *each.variant;
    const Arrays arrays = random_arrays(variant, each.given, each.random);
    const Sequence sequence =
        palimpsest::bind(variant, std::make_shared<const Arrays>(arrays), each.given).heads.front();
    write_npz(run.input(), arrays);
    for (const Form form : all_forms) {
      const Precision precision =
          (i + static_cast<std::size_t>(form)) % 3 == 0 ? Precision::f32 : Precision::f64;
      std::filesystem::remove(run.output());
      const Ran ran = program(
          joined({"run", variant.id, "--form", name(form), "--precision", name(precision), "--chunk",
                  std::to_string(each.chunk_sizes.front()), "--input", run.input(), "--output", run.output()},
                 as_arguments(each.given)));
      INFO(variant.id << " " << describe_options(each.given) << " " << to_string(each.random) << " "
                      << name(form) << " " << ran.error);
      if (const auto reason = variant.rule->missing(form, sequence.settings)) {
        check_failure(ran, exit_unsupported, *reason);
        CHECK(ran.out.empty());
        continue;
      }
      REQUIRE(ran.status == exit_done);
      CHECK(is_one_line(ran.out));
      const Backend& cpu = find_backend("cpu", fastest_backends());
      CHECK(ran.error.empty() == fused_kernel(cpu, variant, sequence, form, precision).empty());
      const Output expected = cpu.run(variant, sequence, form, precision, each.chunk_sizes.front());
      const Arrays results = run.result();
      const std::size_t handed_over = results.contains("column_norm") ? 1 : 0;
      CHECK(results.size() == 1 + expected.states.size() + handed_over);
      check_array(results, "o", expected.o, precision);
      for (const auto& [state, value] : expected.states)
        check_array(results, final_name(expected.states.size(), state), value, precision);
    }
  }
}
