#include "core/io/array_file.h"

#include <set>

#include "tests/capture_file.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::filesystem::path shipped = std::filesystem::path(assets_folder()) / "captures";

/// Reads a capture of three positions with these texts.
Capture read_with(const TemporaryFolder& folder, const Texts& texts,
                  const std::vector<Index>& shape = {3, 2}) {
  Array q;
  q.shape = shape;
  q.own_values() = std::vector<double>(static_cast<std::size_t>(q.size()));
  write_npz(folder / "x.npz", {{"q", q}}, texts);
  return read_capture(folder / "x.npz");
}

}  // namespace

TEST_CASE("every capture that ships has the shapes of its rule", "[capture]") {
  std::set<std::string> rules;
  for (const CaptureSummary& summary : list_captures(shipped)) {
    INFO(summary.file);
    REQUIRE(summary.error == "");
    const Capture capture = read_capture(summary.file);
    rules.insert(capture.rule);
    CHECK(capture.name == summary.name);
    CHECK(capture.rule == summary.rule);
    const auto length = static_cast<Index>(capture.tokens.size());
    const auto heads = static_cast<Index>(capture.heads.size());
    const bool grouped = capture.rule == "softmax";
    const bool shared = capture.model.find("mamba2") != std::string::npos;
    const auto shape = [&](const char* name) { return capture.arrays.at(name).shape; };
    const std::vector<Index> full{length, heads, 64};
    CHECK(length > 30);
    CHECK(shape("o") == full);
    CHECK(shape("q") == std::vector<Index>{length, shared ? 1 : heads, 64});
    CHECK(shape("k") == std::vector<Index>{length, shared ? 1 : grouped ? heads / 3 : heads, 64});
    CHECK(shape("v") == std::vector<Index>{length, grouped ? heads / 3 : heads, 64});
    const bool by_channel = capture.rule == "gla" || capture.rule == "kda";
    const bool decays = !grouped && capture.rule != "deltanet";
    REQUIRE(capture.arrays.contains("g") == decays);
    if (decays) CHECK(shape("g") == (by_channel ? full : std::vector<Index>{length, heads}));
    REQUIRE(capture.arrays.contains("beta") ==
            (capture.rule.find("delta") != std::string::npos || capture.rule == "kda"));
    if (capture.arrays.contains("beta")) CHECK(shape("beta") == std::vector<Index>{length, heads});
    CHECK(capture.arrays.at("scale").size() == 1);
    CHECK(capture.arrays.at("scale")[0] == capture.scale);
    CHECK(capture.arrays.at("q").is_f32());
    CHECK(capture.reproduction_error.value() < 3e-5);
    for (const std::string& text :
         {capture.model, capture.text, capture.source, capture.licence, capture.notes})
      CHECK(text != "");
    CHECK(capture.layer.has_value());
  }
  CHECK(rules == std::set<std::string>{"deltanet", "gated_deltanet", "gla", "kda", "retnet", "scalar_decay",
                                       "softmax"});
}

TEST_CASE("tokens and meta are optional", "[capture]") {
  const TemporaryFolder folder;
  const Capture plain = read_with(folder, {});
  CHECK(plain.name == "x");
  CHECK(plain.rule == "");
  CHECK(plain.tokens.empty());
  CHECK(!plain.layer);
  CHECK(!plain.reproduction_error);
  CHECK(read_with(folder, {{"meta", R"({"rule": "gla", "layer": null, "unknown": [1]})"}}).rule == "gla");
}

TEST_CASE("there is one token for each position", "[capture]") {
  const TemporaryFolder folder;
  const Texts three{{"tokens", R"(["a", "", "c"])"}};
  CHECK(read_with(folder, three).tokens == std::vector<std::string>{"a", "", "c"});
  CHECK(read_with(folder, three, {3, 4, 2}).tokens.size() == 3);
  CHECK(read_with(folder, three, {1, 3, 4, 2}).tokens.size() == 3);
  CHECK_THAT(input_error([&] {
               read_with(folder, three, {5, 4, 2});
             }),
             says("x.npz: tokens: 3 tokens, but q [5, 4, 2] has 5 positions"));
  CHECK(read_with(folder, {{"tokens", "[\"a\", \"b\xFF\", \"c\"]"}}).tokens[1] == "b\xEF\xBF\xBD");
}

TEST_CASE("tokens as a list of texts and not one are refused with what is expected", "[capture]") {
  const TemporaryFolder folder;
  const auto refusal = [&](const char* member) {
    write_zip(folder / "x.npz", {{member, npy("|S1", false, "(2,)", "ab")}});
    return input_error([&] { read_capture(folder / "x.npz"); });
  };
  CHECK_THAT(refusal("tokens.npy"), says("array \"tokens\": dtype '|S1'") &&
                                        says("as tokens one text is expected, a JSON list of strings"));
  CHECK_THAT(refusal("meta.npy"), says("as meta one text is expected, a JSON object"));
}

TEST_CASE("malformed tokens and meta are refused by name", "[capture]") {
  const TemporaryFolder folder;
  const auto refusal_of = [&](const char* name) {
    return [&folder, name](const std::string& text) {
      return input_error([&] { read_with(folder, {{name, text}}); });
    };
  };
  check_refusals(refusal_of("meta"),
                 {{"{\"name\": ", {"x.npz: meta is not valid JSON"}},
                  {"", {"x.npz: meta is not valid JSON"}},
                  {std::string(1'000'000, '['), {"x.npz: meta is not valid JSON"}},
                  {"[1]", {"x.npz: meta: expected an object, found array"}},
                  {R"({"layer": "two"})", {"meta: \"layer\": expected an integer, found string"}},
                  {R"({"layer": 1e99})", {"\"layer\": expected an integer"}},
                  {R"({"layer": 99999999999})", {"\"layer\": the integer 99999999999 is out of range"}},
                  {R"({"heads": [0, -1]})", {"\"heads\": the integer -1 is out of range"}},
                  {R"({"heads": 1})", {"\"heads\": expected a list, found number"}},
                  {R"({"scale": "1"})", {"\"scale\": expected a number, found string"}}});
  check_refusals(refusal_of("tokens"),
                 {{R"({"a": 1})", {"tokens: expected a list of strings, found object"}},
                  {R"(["a", 2, "c"])", {"tokens[1]: expected a string, found number"}}});
}

TEST_CASE("a folder is listed by name, broken files with their error", "[capture]") {
  const TemporaryFolder folder;
  const Arrays arrays{{"q", Array({1, 1}, std::vector<double>{1})}};
  write_npz(folder / "a.npz", arrays, {{"meta", R"({"name": "Zebra", "layer": 3, "rule": "gla"})"}});
  write_npz(folder / "b.npz", arrays, {{"meta", R"({"name": "Ant"})"}});
  write_npz(folder / "c.npz", arrays);
  write_npz(folder / "d.npz", arrays, {{"meta", "{"}});
  write_file(folder / "e.npz", "nonsense");
  write_file(folder / "f.txt", "not looked at");
  const auto list = list_captures(folder.path());
  REQUIRE(list.size() == 5);
  CHECK(list[0].name == "Ant");
  CHECK(list[1].name == "Zebra");
  CHECK(list[1].layer == 3);
  CHECK(list[2].name == "c");
  CHECK(list[2].error == "");
  CHECK_THAT(list[3].error, says("d.npz: meta is not valid JSON"));
  CHECK_THAT(list[4].error, says("e.npz: is not an .npz"));
  CHECK_THAT(input_error([&] { list_captures(folder / "absent"); }),
             says("absent: the folder cannot be read"));
}
