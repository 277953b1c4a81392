// palimpsest show: the numbers of a view are those that the window's answers have.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/options.h"
#include "app/session/memory_questions.h"
#include "app/session/presets.h"
#include "app/session/step_questions.h"
#include "app/session/verify_questions.h"
#include "core/insight/provenance.h"
#include "core/io/file.h"
#include "core/variants/variants.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* capture = "capture:gated_deltanet_overwrite_l1";

/// `palimpsest show VIEW` of the capture.
Ran show(const std::string& view, const std::vector<std::string>& more = {},
         const std::string& data = capture) {
  return palimpsest_with(joined({"show", view, "--capture", data}, more));
}

/// What it writes for programs.
nlohmann::json numbers(const std::string& view, const std::vector<std::string>& more = {},
                       const std::string& data = capture) {
  const TemporaryFolder folder;
  const std::string file = folder / "numbers.json";
  CHECK(done(joined({"show", view, "--capture", data, "--json", file}, more)).out.empty());
  return nlohmann::json::parse(read_text_file(file, 1 << 24));
}

Matrix<double> matrix(const nlohmann::json& rows) {
  Matrix<double> matrix(static_cast<Index>(rows.size()),
                        rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j)
      matrix(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>();
  }
  return matrix;
}

std::shared_ptr<Computation> computed(const char* variant = "gated_deltanet", Index head = 0) {
  return begin(std::make_shared<const DataSet>(open_capture(capture)), {{.variant = variant}, head});
}

/// A file with three words of two channels.
std::string three_words(const TemporaryFolder& folder, std::string_view name, const std::string& tokens,
                        double largest = 1) {
  const Array array({3, 2}, std::vector<double>{largest, 0, 0, largest, largest, largest});
  write_npz(folder / name, {{"q", array}, {"k", array}, {"v", array}}, {{"tokens", tokens}});
  return folder / name;
}

}  // namespace

TEST_CASE("show answers writes what the window's answer has, number by number", "[show]") {
  const auto computation = computed();
  const MemoryAnswers key{computation, Form::recurrent,
                          cursor_at(42, "write", *computation->trace(Form::recurrent))};
  const auto answers = find_out(key);

  const nlohmann::json json = numbers("answers", {"--at", "42"});
  CHECK(json["view"] == "answers");
  CHECK(json["data"] == capture);
  CHECK(json["variant"] == "gated_deltanet");
  CHECK(json["token"] == 42);
  CHECK(json["text"] == "drum");
  CHECK(json["operation"] == "write");
  CHECK(matrix(json["before"]) == answers->table.before);
  CHECK(matrix(json["change"]) == answers->table.change);
  CHECK(matrix(json["after"]) == answers->table.after);
  CHECK(
      json["sentence"] ==
      "With the key of “The red jar holds a key”, the memory now returns mostly “drum” (0.58; “key” 0.35).");
  CHECK(json["legibility"] == answers->legibility);
  CHECK(json["present"] == 5);
  CHECK(json["most_changed"] == 0);
  CHECK(json["words"][0]["text"] == "key");
  CHECK(json["output"]["explained"] == answers->output.explained);
  CHECK(numbers("answers", {"--at", "42:decay"})["after"] == json["before"]);
  CHECK(numbers("answers", {"--at", "42", "--form", "chunkwise"})["after"] == json["after"]);

  CHECK_THAT(show("answers", {"--at", "42"}).out,
             says("the memory now returns mostly “drum”") && says("6 key     0.35"));
}

TEST_CASE("show asks for the words, the rule and the head that are named", "[show]") {
  const nlohmann::json json =
      numbers("answers", {"--at", "50", "--words", "drum,6", "--variant", "linear", "--head", "2"});
  CHECK(json["variant"] == "linear");
  CHECK(json["head"] == 2);
  REQUIRE(json["words"].size() == 2);
  CHECK(json["words"][0]["token"] == 6);
  CHECK(json["words"][1]["token"] == 42);
  const auto computation = computed("linear", 2);
  const Cursor cursor =
      cursor_at(50, json["operation"].get<std::string>(), *computation->trace(Form::recurrent));
  const auto answers = find_out(MemoryAnswers{computation, Form::recurrent, cursor, {.pinned = {42, 6}}});
  CHECK(matrix(json["after"]) == answers->table.after);
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    done({"show", "answers", "--capture", "preset:overwrite", "--variant", variant.id, "--at", "3"});
  }
}

TEST_CASE("show provenance adds up to the number", "[show]") {
  const nlohmann::json json = numbers("provenance", {"--at", "42", "--why", "3,7"});
  const auto computation = computed();
  const Provenance made =
      provenance(*computation->variant->rule, computation->sequence, {.tokens = 43, .row = 3, .column = 7});
  CHECK(json["value"] == made.value);
  REQUIRE(json["shares"].size() == 43);
  CHECK(json["shares"][42]["written"] == made.shares[42].written);
  CHECK(json["shares"][6]["erased"] == made.shares[6].erased);
  double sum = json["initial"]["remaining"].get<double>();
  for (const auto& share : json["shares"]) sum += share["remaining"].get<double>();
  CHECK(sum == Approx(made.value).epsilon(1e-12));
  const auto writers = find_out(WhoWrote{computation, {.tokens = 43, .row = 3, .column = 7}});
  REQUIRE(json["strongest"].size() == writers->strongest.size());
  for (std::size_t i = 0; i < writers->strongest.size(); ++i) {
    CHECK(json["strongest"][i]["token"] == writers->strongest[i].token);
    CHECK(json["strongest"][i]["remaining"] == writers->strongest[i].remaining);
    CHECK(json["strongest"][i]["erased_by"] == writers->strongest[i].erased_by);
  }
  CHECK(json["others_remaining"] == writers->others_remaining);
  // Without a cell the largest number of the memory.
  const nlohmann::json largest = numbers("provenance", {"--at", "42"});
  const Matrix<double> S = states_at(*computation->variant, computation->sequence, 43)[0].second;
  CHECK(std::abs(largest["value"].get<double>()) == Approx(S.cwiseAbs().maxCoeff()).epsilon(1e-12));
  CHECK_THAT(show("provenance", {"--at", "42"}).out, says("others"));
}

TEST_CASE("show learning writes the step, its line, and the pair that it harms most", "[show]") {
  const nlohmann::json json = numbers("learning", {"--at", "42"});
  const auto computation = computed();
  const auto moment = find_out(LearningNow{computation, 42});
  REQUIRE(*moment);
  const LearningMoment& expected = **moment;
  CHECK(json["loss_before"] == expected.step.loss_before);
  CHECK(json["loss_after"] == expected.step.loss_after);
  CHECK(json["rates"] == expected.rates);
  CHECK(json["losses"] == expected.losses);
  CHECK(json["stability"]["reach"] == expected.step.stability->reach);
  CHECK(json["harmed"]["token"] == 6);
  CHECK(json["harmed"]["text"] == "key");
  const auto harm = find_out(HarmNow{computation, 42});
  REQUIRE(*harm);
  CHECK(json["harmed"]["rates"] == (*harm)->rates);
  CHECK(json["harmed"]["losses"] == (*harm)->losses);
  const std::string told = show("learning", {"--at", "42"}).out;
  CHECK_THAT(told, says("6 key: loss 0.1058 -> 0.2427"));
  // Along the key 1 - beta |k|^2 is left; a direction across it loses nothing.
  CHECK_THAT(told, says(fmt::format("by {:.4g} along the sharpest", 1 - expected.step.stability->reach)) &&
                       says("by at most 1 along any"));
  // What is infinite is null: no rate of a linear loss brings it back.
  CHECK(numbers("learning", {"--at", "42", "--variant", "linear"})["stability"]["largest_rate"].is_null());
  check_failure(show("learning", {"--variant", "softmax"}), exit_unsupported, "softmax has no inner loss");
}

TEST_CASE("show recall and gates write a number for every token", "[show]") {
  const nlohmann::json recall = numbers("recall", {"--words", "key,42"});
  const auto computation = computed();
  RememberedWords words{.of = computation, .tokens = {6, 42}};
  for (Index moment = 0; moment <= 94; ++moment) words.moments.push_back(moment);
  CHECK(matrix(recall["shares"]) == find_out(words)->shares);
  CHECK(recall["words"][1]["text"] == "drum");
  // Without words those that were written most strongly by then.
  CHECK(numbers("recall", {"--at", "42"})["words"].size() <= 8);
  CHECK_THAT(show("recall", {"--at", "42"}).out, says("42 drum"));
  CHECK(show("recall", {"--variant", "softmax"}).status == exit_unsupported);

  const nlohmann::json gates = numbers("gates");
  const auto expected = find_out(CoursesOfTokens{computation});
  REQUIRE(gates["keeping"]["mean"].size() == 94);
  for (std::size_t t = 0; t < 94; ++t) {
    CHECK(gates["keeping"]["mean"][t] == expected->keeping->mean(static_cast<Index>(t)));
    CHECK(gates["strength"]["reach"][t] == expected->strengths->reach(static_cast<Index>(t)));
  }
  CHECK(numbers("gates", {"--variant", "linear"})["keeping"].is_null());
  CHECK_THAT(show("gates", {"--variant", "linear"}).out, says("This rule has no decay."));
  CHECK_THAT(show("gates", {"--variant", "mamba"}).out, says("This rule has no single decay."));
  CHECK_THAT(show("gates").out, says("half-life"));
}

TEST_CASE("show compare: the sides that Compare shows at first", "[show]") {
  const nlohmann::json shown = numbers("compare", {"--at", "42"});
  REQUIRE(shown["sides"].size() == 4);
  CHECK(shown["sides"][0]["variant"] == "gated_deltanet");
  const auto own = computed();
  for (const nlohmann::json& side : shown["sides"]) {
    const auto computation = computed(side["variant"].get<std::string>().c_str());
    const Matrix<double> S =
        RecurrentMemory(*computation->variant, computation->sequence, *computation->trace(Form::recurrent))
            .after(43)
            .front()
            .second;
    CAPTURE(side["variant"]);
    CHECK(matrix(side["memory"]["after"]) == S);
    CHECK(side["memory"]["length_after"] == S.norm());
    const auto recalls = recall(*computation->variant, computation->sequence);
    CHECK(side["error"]["after"] == std::sqrt(2 * (*recalls)[42].after));
    CHECK(side["errors_after"].size() == 94);
  }
  CHECK(shown["sides"][0]["memory"]["difference_length"] == 0);
  const nlohmann::json between =
      numbers("compare", {"--at", "42", "--variant", "linear_to_retnet", "--param", "position=0.4"});
  CHECK(between["sides"][0]["parameters"]["position"] == 0.4);
  CHECK_THAT(between["sides"][0]["does"].get<std::string>(), says("0.40"));
  const Ran ran = show("compare", {"--at", "42", "--variant", "softmax"});
  CHECK_THAT(ran.out, says("keeps every key and value") && says("RetNet"));
  CHECK_THAT(show("compare", {"--at", "42"}).out, says("the memory now returns"));
}

TEST_CASE("show compare: the sides that are named, in their forms and precisions", "[show]") {
  const nlohmann::json shown =
      numbers("compare", {"--at", "42", "--beside", "kda,gated_deltanet:chunkwise:f32"});
  REQUIRE(shown["sides"].size() == 3);
  CHECK(shown["sides"][1]["variant"] == "kda");
  CHECK(shown["sides"][1]["precision"] == "f64");
  CHECK(shown["sides"][2]["form"] == "chunkwise");
  CHECK(shown["sides"][2]["precision"] == "f32");
  const double apart = shown["sides"][2]["memory"]["difference_length"];
  CHECK(apart > 1e-9);  // f32 is seen
  CHECK(apart < 1e-4);
  check_failure(show("compare", {"--beside", "kada"}), exit_bad_usage, "kada");
  CHECK(show("compare", {"--beside", "kda:sideways"}).status == exit_bad_usage);
  check_failure(show("compare", {"--beside", "kda,gla,retnet,linear"}), exit_bad_usage,
                "--beside has 4 sides; expected at most 3");
}

TEST_CASE("show says what it cannot show, and what there is", "[show]") {
  const auto refuses = [](const Ran& ran, int status, const std::string& words) {
    check_failure(ran, status, words);
    CHECK(ran.out.empty());
  };
  refuses(show("picture"), exit_bad_usage, "there is no view \"picture\"; expected one of: answers, ");
  refuses(show("answers", {"--at", "94"}), exit_bad_usage, "expected a whole number from 0 to 93");
  refuses(show("answers", {"--at", "4:solve"}), exit_bad_usage,
          "--at: there is no operation \"solve\"; this form has: decay, ");
  refuses(show("answers", {"--words", "elephant"}), exit_bad_usage, "there is no token \"elephant\"");
  refuses(show("answers", {"--words", "6,94"}), exit_bad_usage, "a token of --words is \"94\"");
  refuses(show("answers", {"--head", "4"}), exit_bad_usage,
          "--head is \"4\"; expected a whole number from 0 to 3");
  refuses(show("answers", {"--variant", "ttt_mlp", "--form", "parallel"}), exit_unsupported,
          "no parallel form");
  refuses(show("provenance", {"--variant", "softmax"}), exit_unsupported, "keeps every key and value");
  refuses(show("provenance", {"--why", "64,0"}), exit_bad_usage, "row 64");
  refuses(show("provenance", {"--why", "3"}), exit_bad_usage, "expected ROW,COLUMN");
  refuses(show("answers", {}, "capture:nothing"), exit_bad_usage, "there is no capture \"nothing\"");
  check_refused({"show", "answers"}, exit_bad_usage, "--capture");
  const TemporaryFolder folder;
  refuses(show("answers", {"--json", folder / "no" / "such.json"}), exit_bad_usage, "such.json");
}

TEST_CASE("words and names of files cannot write over the terminal, and need not be UTF-8", "[show]") {
  const TemporaryFolder folder;
  const std::string file = three_words(folder, "\x1b[31m.npz", R"(["\u001b[2Ja", "b\nc", "\u009bd"])");
  for (const char* view : {"answers", "learning", "provenance", "recall", "gates"}) {
    CAPTURE(view);
    const Ran ran = done({"show", view, "--capture", file});
    CHECK_THAT(ran.out, says(" [31m.npz"));
    CHECK(
        std::ranges::none_of(ran.out, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7F; }));
    CHECK(ran.out.find("\xC2\x9B") == std::string::npos);
    CHECK(ran.out.find("b\nc") == std::string::npos);
  }
  CHECK(numbers("recall", {"--words", "1"}, file)["words"][0]["text"] == "b\nc");
  CHECK(numbers("gates", {}, three_words(folder, "\xFF.npz", R"(["a", "b", "c"])"))["view"] == "gates");
}

TEST_CASE("numbers that are not finite are told with the place of the first", "[show]") {
  const TemporaryFolder folder;
  const std::string file = three_words(folder, "large.npz", R"(["a", "b", "c"])", 1e160);
  const Ran ran = show("recall", {"--words", "0"}, file);
  CHECK(ran.status == exit_done);
  CHECK(is_one_line(ran.error));
  CHECK_THAT(ran.error, says(file + ": ") && says("not finite, first at /shares/0/"));
  const std::string json = folder / "numbers.json";
  CHECK_THAT(show("recall", {"--words", "0", "--json", json}, file).error, says("the file has null there"));
  CHECK(show("recall").error.empty());
}

TEST_CASE("show lens and faults: the numbers are those of Verify") {
  const auto foundation = computed();
  const nlohmann::json lens = numbers("lens", {"--form", "chunkwise", "--chunk", "8", "--head", "0"});
  REQUIRE(lens["lines"].size() == 8);  // four forms, and one of them in four precisions more
  ProofLine line{.of = foundation, .form = Form::parallel};
  CHECK(lens["lines"][3]["form"] == "parallel");
  CHECK(lens["lines"][3]["errors"].get<std::vector<double>>() == find_out(line)->errors);
  CHECK(lens["lines"][4]["arithmetic"] == "f32");
  CHECK(lens["lines"][5]["arithmetic"] == "tf32");
  CHECK(lens["sums"].size() == 4);
  const nlohmann::json faulty = numbers("faults", {"--form", "chunkwise", "--chunk", "8", "--head", "0"});
  REQUIRE(faulty["faults"].size() == faults().size());
  for (const nlohmann::json& each : faulty["faults"]) {
    FaultHere key{.of = foundation, .form = Form::chunkwise, .fault = each["fault"].get<std::string>()};
    const auto figures = find_out(key);
    INFO(key.fault);
    CHECK(each.contains("without") == !figures->without.empty());
    if (!figures->without.empty()) continue;
    CHECK(each["noticed"] == figures->noticed());
    CHECK(each["off_by"].get<double>() == figures->judgement.disagreement.error);
    if (!figures->departure) continue;
    CHECK(each["departure"]["token"].get<Index>() == figures->departure->token);
    CHECK(each["departure"]["operation"] == figures->departure->operation);
  }
  CHECK_THAT(show("faults", {"--form", "chunkwise"}).out, says("solve-sign"));
  CHECK_THAT(show("lens").out, says("tolerance"));
}
