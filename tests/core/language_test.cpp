// The small language models against an independent implementation in numpy (tests/data/language/README.md).

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/array_file.h"
#include "core/language/interventions.h"
#include "core/language/tokenizer.h"
#include "tests/core/io/files.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer read(assets_folder() + "/models/tokenizer.json");
  return read;
}

const LanguageModel<double>& delta_net() {
  static const LanguageModel<double> read(assets_folder() + "/models/delta_net.npz");
  return read;
}

nlohmann::json reference() {
  std::ifstream file(test_data_folder() + "/language/reference.json");
  return nlohmann::json::parse(file);
}

std::vector<Index> ids_of(const std::string& text) {
  std::vector<Index> ids = tokenizer().encode(text);
  ids.insert(ids.begin(), 0);
  return ids;
}

const RunHead as_trained = run_as_trained(Form::recurrent, Precision::f64, 16);

const std::string jars =
    "The red jar holds a coin. The blue jar holds a map. Now the red jar holds a bell. Now the red jar holds "
    "a lamp. What does the red jar hold? The red jar holds a";

/// What a model says next, with interventions.
template <class Scalar>
std::string next_piece(const LanguageModel<Scalar>& model, const std::string& text,
                       const std::vector<std::string>& interventions) {
  std::vector<Intervention> all;
  for (const std::string& each : interventions) all.push_back(parse_intervention(each));
  const std::vector<Index> ids = ids_of(text);
  const Matrix<Scalar> logits = model.logits(ids, with(all, as_trained));
  return tokenizer().piece(continuations(logits, logits.rows() - 1, 1).front().piece);
}

}  // namespace

TEST_CASE("a text becomes the pieces of the reference, and its bytes again", "[language]") {
  for (const auto& each : reference()) {
    const std::vector<Index> ids = ids_of(each.at("text").get<std::string>());
    CHECK(ids == each.at("ids").get<std::vector<Index>>());
  }
  for (const std::string text : {"", " ", "\n\n  a  b\t", "don't we'll I'D", "123 ½ ²x",
                                 "naïve Привет 你好 🙂", "<|doc|>a<|doc|>"}) {
    std::string back;
    for (const Index id : tokenizer().encode(text)) back += tokenizer().piece(id);
    CHECK(back == text);
  }
  CHECK(tokenizer().encode("<|doc|>") == std::vector<Index>{0});
  CHECK_THROWS_WITH(tokenizer().encode("ab\xFFz"), "the text is no UTF-8: byte 2");
}

TEST_CASE("the model says what the reference says, in every form", "[language]") {
  for (const auto& each : reference()) {
    const std::vector<Index> ids = each.at("ids").get<std::vector<Index>>();
    const Matrix<double> logits = delta_net().logits(ids, as_trained);
    const auto top = continuations(logits, logits.rows() - 1, 5);
    REQUIRE(top.size() == 5);
    for (std::size_t i = 0; i < top.size(); ++i) {
      CAPTURE(each.at("text").get<std::string>(), i);
      CHECK(top[i].piece == each.at("top")[i][0].get<Index>());
      // Both are f64; the reference says its own probabilities whole.
      CHECK(std::abs(top[i].probability - each.at("top")[i][2].get<double>()) < 1e-9);
    }
    CHECK(std::abs(logits.row(logits.rows() - 1).norm() - each.at("logits_last_l2").get<double>()) < 1e-8);
    const std::vector<double> found = losses(logits, ids);
    const auto expected = each.at("loss_per_token").get<std::vector<double>>();
    REQUIRE(found.size() == expected.size());
    for (std::size_t t = 0; t < found.size(); ++t) CHECK(std::abs(found[t] - expected[t]) < 1e-8);
    for (const Form form : all_forms) {
      const Matrix<double> other = delta_net().logits(ids, run_as_trained(form, Precision::f64, 7));
      CHECK((other - logits).cwiseAbs().maxCoeff() < 1e-9);
    }
  }
}

TEST_CASE("what enters the rule of a head is what the reference's layers give", "[language]") {
  for (const auto& each : reference()) {
    Arrays seen;
    const RunHead watched = [&](Index layer, Index head, const HeadInputs& inputs) {
      if (layer == 2 && head == 2) seen = inputs.arrays;
      return as_trained(layer, head, inputs);
    };
    delta_net().logits(each.at("ids").get<std::vector<Index>>(), watched);
    const auto beta = each.at("beta_l2h2").get<std::vector<double>>();
    REQUIRE(static_cast<std::size_t>(seen.at("beta").size()) == beta.size());
    for (std::size_t t = 0; t < beta.size(); ++t)
      CHECK(std::abs(seen.at("beta")[static_cast<Index>(t)] - beta[t]) < 1e-10);
    double sum = 0;
    for (Index i = 0; i < seen.at("k").size(); ++i) sum += seen.at("k")[i];
    CHECK(std::abs(sum - each.at("k_l2h2_sum").get<double>()) < 1e-7);
  }
}

TEST_CASE("a layer that only adds answers with an older fact; other interventions do what they say",
          "[language]") {
  for (const auto& each : reference()) {
    const std::vector<Index> ids = each.at("ids").get<std::vector<Index>>();
    const Matrix<double> logits =
        delta_net().logits(ids, with({parse_intervention("only-add:2")}, as_trained));
    const auto top = continuations(logits, logits.rows() - 1, 5);
    for (std::size_t i = 0; i < top.size(); ++i) {
      CHECK(top[i].piece == each.at("top_when_layer_2_only_adds")[i][0].get<Index>());
      CHECK(std::abs(top[i].probability - each.at("top_when_layer_2_only_adds")[i][2].get<double>()) < 1e-9);
    }
  }
  CHECK(next_piece(delta_net(), jars, {}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"only-add:2"}) == " bell");
  CHECK(next_piece(delta_net(), jars, {"beta:2.2=1"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"decay:2=1"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"rule:2=deltanet"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"silent:2"}) != " lamp");
}

TEST_CASE("every model that ships gives the logits of the reference, in f32 too", "[language]") {
  struct Shipped {
    const char* name;
    const char* rule;
    double norm;  // of the last logits, in numpy's f64
    const char* next;
  };
  for (const Shipped& each : {Shipped{"gated_delta_net", "gated_deltanet", 414.166593080235, " lamp"},
                              {"simple_gla", "scalar_decay", 296.1463344336785, " bell"},
                              {"delta_net", "deltanet", 333.83773733413625, " lamp"}}) {
    CAPTURE(each.name);
    const std::string file = fmt::format("{}/models/{}.npz", assets_folder(), each.name);
    const LanguageModel<double> model(file);
    for (Index layer = 0; layer < model.layers(); ++layer) CHECK(model.rule(layer) == each.rule);
    const Matrix<double> logits = model.logits(ids_of(jars), as_trained);
    CHECK(std::abs(logits.row(logits.rows() - 1).norm() - each.norm) < 1e-8);
    const LanguageModel<float> small(file);
    CHECK(next_piece(small, jars, {}) == each.next);
    const Matrix<float> rounded =
        small.logits(ids_of(jars), run_as_trained(Form::chunkwise, Precision::f32, 16));
    // Some 200 products are added up behind each other in f32, four layers deep.
    CHECK((rounded.cast<double>() - logits).cwiseAbs().maxCoeff() < 1e-3 * logits.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("an intervention that is wrong is refused with what was expected", "[language]") {
  CHECK_THROWS_WITH(parse_intervention("adds"), says("no intervention \"adds\"") && says("only-add"));
  CHECK_THROWS_WITH(parse_intervention("beta:2"), says("needs =VALUE"));
  CHECK_THROWS_WITH(parse_intervention("only-add=3"), says("takes no value"));
  CHECK_THROWS_WITH(parse_intervention("beta:x=1"), says("the layer is \"x\""));
  CHECK_THROWS_WITH(require_place(parse_intervention("silent:4"), 4, 4), says("there is no layer 4"));
  CHECK_THROWS_WITH(require_place(parse_intervention("silent:3.9"), 4, 4), says("there is no head 9"));
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"beta:2=-1"}),
                    says("layer 2") && says("no number from 0"));
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"rule:1=nothing"}), says("no variant"));
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"fade=2"}), says("DeltaNet has no g"));
}

TEST_CASE("a tokenizer that is broken is refused by the file's name", "[language]") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "tokenizer.json";
  const std::string whole = read_file(assets_folder() + "/models/tokenizer.json");
  const auto problem = [&](const auto& change) {
    auto json = nlohmann::json::parse(whole);
    change(json);
    write_file(file, json.dump());
    try {
      const Tokenizer read(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using Json = nlohmann::json;
  CHECK(problem([](Json&) {}).empty());
  CHECK_THAT(problem([](Json& all) { all = 3; }), says("tokenizer.json") && says("it is not JSON"));
  CHECK_THAT(problem([](Json& all) { all["model"] = Json::array(); }), says("another type"));
  CHECK_THAT(problem([](Json& all) { all["added_tokens"] = {1, 2}; }), says("another type"));
  CHECK_THAT(problem([](Json& all) { all["model"]["vocab"]["a"] = -1; }), says("number of \"a\""));
  CHECK_THAT(problem([](Json& all) { all["model"]["vocab"]["a"] = all["model"]["vocab"]["b"]; }),
             says("two pieces"));
  CHECK_THAT(problem([](Json& all) { all["model"]["merges"][7] = "qq zz"; }), says("merge 7"));
  CHECK_THAT(problem([](Json& all) { all["normalizer"] = {{"type", "NFC"}}; }), says("changes the text"));
}

TEST_CASE("weights that are broken are refused by the tensor's name", "[language]") {
  const TemporaryFolder folder;
  const Npz whole = read_npz(assets_folder() + "/models/delta_net.npz");
  const auto problem = [&](const auto& change) {
    Arrays arrays = whole.arrays;
    change(arrays);
    const std::filesystem::path file = folder / "model.npz";
    write_npz(file, arrays);
    try {
      const LanguageModel<float> model(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(problem([](Arrays&) {}).empty());
  CHECK_THAT(problem([](Arrays& all) { all.erase("emb.weight"); }), says("model.npz") && says("emb.weight"));
  CHECK_THAT(problem([](Arrays& all) { all.erase("blocks.1.mix.b_proj.weight"); }), says("blocks.1.mix."));
  CHECK_THAT(problem([](Arrays& all) { all["norm.weight"] = Array({3}, std::vector<float>(3)); }),
             says("norm.weight is [3]; expected [1, 256]"));
  CHECK_THAT(problem([](Arrays& all) {
               std::get<std::vector<float>>(all["blocks.2.up.weight"].values)[5] = std::nanf("");
             }),
             says("blocks.2.up.weight holds what is no finite number"));
}
