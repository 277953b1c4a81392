// The small language models against an independent implementation in numpy (tests/data/language/README.md).

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/io/array_file.h"
#include "core/language/reading.h"
#include "core/language/tokenizer.h"
#include "tests/apart.h"
#include "tests/core/cases.h"
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

/// One of the files of numbers that the reference left.
nlohmann::json told(const std::string& name) {
  return nlohmann::json::parse(read_file(fmt::format("{}/language/{}.json", test_data_folder(), name)));
}

std::vector<Index> ids_of(const std::string& text) {
  std::vector<Index> ids = tokenizer().encode(text);
  ids.insert(ids.begin(), 0);
  return ids;
}

const RunHead as_trained = run_as_trained({Form::recurrent, Precision::f64, 16});

/// What enters the rule of head 2 of layer 2 in a text.
HeadInputs inputs_of_the_head(const std::vector<Index>& ids) {
  HeadInputs seen;
  const RunHead watched = [&](Index layer, Index head, const HeadInputs& inputs) {
    if (layer == 2 && head == 2) seen = inputs;
    return as_trained(layer, head, inputs);
  };
  delta_net().logits(ids, watched);
  return seen;
}

const std::string jars =
    "The red jar holds a coin. The blue jar holds a map. Now the red jar holds a bell. Now the red jar holds "
    "a lamp. What does the red jar hold? The red jar holds a";

/// The heads as they were trained, with interventions.
RunHead changed_by(const std::vector<std::string>& interventions) {
  std::vector<Intervention> all;
  for (const std::string& each : interventions) all.push_back(parse_intervention(each));
  return with(all, as_trained);
}

/// What a model says next, with interventions.
template <class Scalar>
std::string next_piece(const LanguageModel<Scalar>& model, const std::string& text,
                       const std::vector<std::string>& interventions) {
  const Matrix<Scalar> logits = model.logits(ids_of(text), changed_by(interventions));
  return tokenizer().piece(continuations(logits, logits.rows() - 1, 1).front().piece);
}

/// Checks that the likeliest next pieces are those of the reference.
void check_top(const Matrix<double>& logits, const nlohmann::json& expected) {
  const auto top = continuations(logits, logits.rows() - 1, 5);
  REQUIRE(top.size() == 5);
  for (std::size_t i = 0; i < top.size(); ++i) {
    CAPTURE(i);
    CHECK(top[i].piece == expected[i][0].get<Index>());
    // Both are f64; the reference says its own probabilities whole.
    CHECK(std::abs(top[i].probability - expected[i][2].get<double>()) < 1e-9);
  }
}

}  // namespace

TEST_CASE("a text becomes the pieces of the reference, and its bytes again", "[language]") {
  for (const auto& each : told("reference")) {
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
  CHECK_THROWS_WITH(tokenizer().encode("ab\xFFz"), "the text is not UTF-8: byte 2");
}

TEST_CASE("the model says what the reference says, in every form", "[language]") {
  for (const auto& each : told("reference")) {
    const std::vector<Index> ids = each.at("ids").get<std::vector<Index>>();
    const Matrix<double> logits = delta_net().logits(ids, as_trained);
    CAPTURE(each.at("text").get<std::string>());
    check_top(logits, each.at("top"));
    CHECK(std::abs(logits.row(logits.rows() - 1).norm() - each.at("logits_last_l2").get<double>()) < 1e-8);
    CHECK(furthest_apart(read(delta_net(), ids, {}, as_trained).losses,
                         each.at("loss_per_token").get<std::vector<double>>()) < 1e-8);
    for (const Form form : all_forms) {
      const Matrix<double> other = delta_net().logits(ids, run_as_trained({form, Precision::f64, 7}));
      CHECK(furthest_apart(other, logits) < 1e-9);
    }
  }
}

TEST_CASE("what is kept of the last text changes no number of the next", "[language]") {
  const LanguageModel<float> model(assets_folder() + "/models/gated_delta_net.npz");
  const RunHead run = run_as_trained({});
  KeptProducts<float> kept;
  for (const std::string& text :
       {jars, jars + " lamp", jars + " lamp.", jars.substr(0, 90), "The blue" + jars.substr(7), jars}) {
    const std::vector<Index> ids = ids_of(text);
    CHECK(model.logits(ids, run, &kept) == model.logits(ids, run));
  }
  KeptProducts<float> products;
  std::optional<TextReading> last;
  for (const std::string& text : {jars, jars + " lamp.", jars.substr(0, 90) + "drum", jars}) {
    const std::vector<Index> ids = ids_of(text);
    TextReading on = read(model, ids, {}, run, &products, last ? &*last : nullptr);
    const TextReading anew = read(model, ids, {}, run);
    CHECK(on.losses == anew.losses);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      CHECK(on.next[t].front().piece == anew.next[t].front().piece);
      CHECK(on.next[t].front().probability == anew.next[t].front().probability);
    }
    last = std::move(on);
  }
  const RunHead adding = with({parse_intervention("only-add:1")}, run);
  CHECK(model.logits(ids_of(jars), adding, &kept) == model.logits(ids_of(jars), adding));
}

TEST_CASE("what enters the rule of a head is what the reference's layers give", "[language]") {
  const auto rows = told("last_rows");
  std::size_t text = 0;
  for (const auto& each : told("reference")) {
    Arrays seen = inputs_of_the_head(each.at("ids").get<std::vector<Index>>()).arrays;
    CHECK(furthest_apart(numbers(seen, "beta"), each.at("beta_l2h2").get<std::vector<double>>()) < 1e-10);
    for (const auto& [name, row] : rows.at(text++).items()) {
      const std::vector<double>& all = numbers(seen, name);
      const std::vector<double> last(all.end() - std::ssize(row), all.end());
      // The file has twelve digits of numbers up to about 3.
      CHECK(furthest_apart(last, row.get<std::vector<double>>()) < 1e-10);
    }
    const std::vector<double>& k = numbers(seen, "k");
    CHECK(std::abs(std::accumulate(k.begin(), k.end(), 0.0) - each.at("k_l2h2_sum").get<double>()) < 1e-7);
  }
}

TEST_CASE("a layer that only adds answers with an older fact; other interventions do what they say",
          "[language]") {
  for (const auto& each : told("reference")) {
    const std::vector<Index> ids = each.at("ids").get<std::vector<Index>>();
    check_top(delta_net().logits(ids, changed_by({"only-add:2"})), each.at("top_when_layer_2_only_adds"));
  }
  CHECK(next_piece(delta_net(), jars, {}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"only-add:2"}) == " bell");
  CHECK(next_piece(delta_net(), jars, {"beta:2.2=1"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"decay:2=1"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"rule:2=deltanet"}) == " lamp");
  CHECK(next_piece(delta_net(), jars, {"silent:2"}) != " lamp");
}

TEST_CASE("interventions give what the reference gives with its layers changed", "[language]") {
  const std::vector<Index> ids = ids_of(jars);
  const auto cases = told("interventions");
  for (const auto& [intervention, top] : cases.items()) {
    CAPTURE(intervention);
    const Matrix<double> logits = delta_net().logits(ids, changed_by({intervention}));
    for (const auto& piece : top)
      CHECK(std::abs(log_probability(logits, logits.rows() - 1, piece[0].get<Index>()) -
                     piece[1].get<double>()) < 1e-9);
  }
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
        small.logits(ids_of(jars), run_as_trained({Form::chunkwise, Precision::f32, 16}));
    // Some 200 products are added up behind each other in f32, four layers deep.
    CHECK(furthest_apart(rounded.cast<double>(), logits) < 1e-3 * logits.cwiseAbs().maxCoeff());
  }
}

TEST_CASE("tiny models saved by flash-linear-attention give its logits, whatever their layers",
          "[language]") {
  for (const std::string name : {"delta_net", "delta_net_gated", "gated_delta_net", "gla", "kda", "retnet"}) {
    const std::string folder = test_data_folder() + "/language/layers/" + name;
    const LanguageModel<double> model(folder + "/model.safetensors");
    const auto expected = told("layers/" + name + "/logits");
    for (const Form form : all_forms) {
      CAPTURE(name, palimpsest::name(form));
      const Matrix<double> logits = model.logits(expected.at("ids").get<std::vector<Index>>(),
                                                 run_as_trained({form, Precision::f64, 5}));
      for (const auto& [row, numbers] : expected.at("logits").items()) {
        const RowVector<double> ours = logits.row(std::stol(row));
        // Theirs are f32, and of logits up to 8.
        CHECK(furthest_apart(std::vector(ours.begin(), ours.end()), numbers.get<std::vector<double>>()) <
              2e-5);
      }
    }
  }
}

TEST_CASE("a memory that is cleared, or begins with a state, goes on like a text of its own", "[language]") {
  const Index T = 11, cut = 4;
  RandomNumbers random(3, "heads");
  const auto array = [&](const std::vector<Index>& shape, bool is_gate) {
    std::vector<double> values(static_cast<std::size_t>(shape.front() * (shape.size() > 1 ? shape[1] : 1)));
    for (double& value : values) value = is_gate ? 0.2 + 0.7 * random.uniform() : 0.4 * random.normal();
    return Array(shape, std::move(values));
  };
  const auto rows = [](const Array& all, Index first, Index count) {
    const Index columns = all.rank() > 1 ? all.shape[1] : 1;
    std::vector<double> values;
    for (Index i = first * columns; i < (first + count) * columns; ++i) values.push_back(all[i]);
    std::vector<Index> shape = all.shape;
    shape.front() = count;
    return Array(shape, values);
  };
  for (const std::string rule :
       {"linear", "retnet", "scalar_decay", "gla", "deltanet", "gated_deltanet", "kda"}) {
    CAPTURE(rule);
    HeadInputs inputs{.rule = rule};
    for (const char* name : {"q", "k"}) inputs.arrays[name] = array({T, 3}, false);
    inputs.arrays["v"] = array({T, 2}, false);
    const bool has_channels = rule == "gla" || rule == "kda";
    if (rule.ends_with("deltanet") || rule == "kda") inputs.arrays["beta"] = array({T}, true);
    if (rule == "scalar_decay" || rule == "gated_deltanet") inputs.arrays["alpha"] = array({T}, true);
    if (has_channels)
      inputs.arrays["g"] = mapped<double>(array({T, 3}, true), [](double a) { return std::log(a); });
    if (rule == "retnet") inputs.settings.parameters["gamma"] = 0.8;
    const auto part = [&](Index first, Index count) {
      HeadInputs some = inputs;
      for (auto& [name, all] : some.arrays) all = rows(all, first, count);
      return as_trained(0, 0, some);
    };
    const Matrix<double> cleared = changed_by({fmt::format("clear:0.0={}", cut)})(0, 0, inputs);
    CHECK(furthest_apart(cleared.topRows(cut), part(0, cut)) < 1e-14);
    CHECK(furthest_apart(cleared.bottomRows(T - cut), part(cut, T - cut)) < 1e-14);
    CHECK(furthest_apart(as_trained(0, 0, inputs), cleared) > 1e-3);

    const TemporaryFolder folder;
    const Array state = array({3, 2}, false);
    write_npz(folder / "state.npz", {{"initial_state", state}});
    HeadInputs begun = inputs;
    begun.arrays["initial_state"] = state;
    const std::string start = fmt::format("start={}", (folder / "state.npz").string());
    CHECK(changed_by({start})(0, 0, inputs) == as_trained(0, 0, begun));
  }
}

TEST_CASE("a fault in the equations of a head is carried out", "[language]") {
  // A form that erases nothing is one that only adds.
  const std::vector<Index> ids = ids_of(jars);
  CHECK(furthest_apart(delta_net().logits(ids, changed_by({"fault:2=nothing-erased"})),
                       delta_net().logits(ids, changed_by({"only-add:2"}))) < 1e-9);
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"fault:2=solve-sign"}), says("needs") && says("has none"));
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"fault:2=none"}), says("there is no fault \"none\""));
}

TEST_CASE("a rule fits where it takes what enters a head and needs no more", "[language]") {
  const std::vector<std::string> fitting = fitting_rules(inputs_of_the_head(ids_of(jars)), 2);
  for (const char* const rule : {"linear", "retnet", "softmax"})
    CHECK(std::ranges::count(fitting, rule) == 1);
  for (const char* const rule : {"deltanet", "gated_deltanet", "gla", "kda"})
    CHECK(std::ranges::count(fitting, rule) == 0);
  // What is offered runs.
  for (const std::string& rule : fitting) {
    CAPTURE(rule);
    CHECK_NOTHROW(next_piece(delta_net(), jars, {"rule:2.2=" + rule}));
  }
}

TEST_CASE("what each head does to the answer is what an intervention on it does", "[language]") {
  const std::vector<Index> ids = ids_of(jars);
  double told = 0;
  const auto tell = [&](double share) { told = share; };
  const std::vector<HeadEffect> effects = head_effects(delta_net(), ids, {}, as_trained, tell, {});
  REQUIRE(effects.size() == 16);
  CHECK(told == 1);
  const Index lamp = tokenizer().find(" lamp");
  const auto log_of_lamp = [&](const std::vector<std::string>& all) {
    return log_probability(delta_net().logits(ids, changed_by(all)), std::ssize(ids) - 1, lamp);
  };
  for (const std::size_t i : {0U, 10U, 15U}) {
    const HeadEffect& effect = effects[i];
    const std::string place = fmt::format("{}.{}", effect.layer, effect.head);
    CHECK(std::abs(*effect.only_adds - log_of_lamp({"only-add:" + place}) + log_of_lamp({})) < 1e-12);
    CHECK(std::abs(effect.silent - log_of_lamp({"silent:" + place}) + log_of_lamp({})) < 1e-12);
  }
  // Of the layers above the first it is head 2 of layer 2 that must erase.
  const auto strongest = std::ranges::min_element(effects.begin() + 4, effects.end(), {},
                                                  [](const HeadEffect& effect) { return *effect.only_adds; });
  CHECK(strongest->layer == 2);
  CHECK(strongest->head == 2);
  CHECK_THROWS_AS(head_effects(delta_net(), ids, {}, as_trained, tell, stopped()), Cancelled);
}

TEST_CASE("an experiment counts right answers over made-up texts", "[language]") {
  const LanguageModel<float> model(assets_folder() + "/models/delta_net.npz");
  const RunHead run = run_as_trained({});
  const auto nothing = [](double) {};
  const Experiment experiment{.kind = "jars",
                              .texts = 3,
                              .overwritten = 2,
                              .seed = 7,
                              .interventions = {parse_intervention("only-add:2")}};
  const std::vector<ExperimentRow> rows = try_texts(experiment, model, tokenizer(), run, nothing, {});
  REQUIRE(rows.size() == 3);
  RandomNumbers random(7, "texts");
  for (const ExperimentRow& row : rows) {
    Answered trained, changed;
    for (Index i = 0; i < 3; ++i) {
      const AskingText asking = find_text_kind("jars").make(random, row.overwritten);
      CHECK(asking.older.size() == static_cast<std::size_t>(row.overwritten));
      trained.right += next_piece(model, asking.text, {}) == asking.answer ? 1 : 0;
      const std::string said = next_piece(model, asking.text, {"only-add:2"});
      changed.right += said == asking.answer ? 1 : 0;
      changed.older += std::ranges::find(asking.older, said) != asking.older.end() ? 1 : 0;
    }
    CHECK(row.trained.right == trained.right);
    CHECK(row.changed.right == changed.right);
    CHECK(row.changed.older == changed.older);
  }
  CHECK(rows[2].trained.right == 3);
  for (const TextKind& kind : text_kinds()) {
    const AskingText asking = kind.make(random, most_overwritten);
    CHECK(asking.text.find(asking.answer) != std::string::npos);
    CHECK(tokenizer().encode(asking.answer).size() == 1);
  }
  CHECK_THROWS_WITH(try_texts({.kind = "cats"}, model, tokenizer(), run, nothing, {}), says("jars, boxes"));
  CHECK_THROWS_WITH(try_texts({.overwritten = 9}, model, tokenizer(), run, nothing, {}),
                    says("expected 0 to 8"));
}

TEST_CASE("a description beside the weights that asks for more is refused", "[language]") {
  const TemporaryFolder folder;
  const std::string layers = test_data_folder() + "/language/layers/gla/";
  std::filesystem::copy_file(layers + "model.safetensors", folder / "model.safetensors");
  const auto problem = [&](const std::string& config) {
    write_file(folder / "config.json", config);
    return input_error([&] { LanguageModel<double>(folder / "model.safetensors"); });
  };
  CHECK(problem(R"({"norm_eps": 1e-6, "num_heads": 2, "num_kv_heads": 2})").empty());
  CHECK_THAT(problem(R"({"feature_map": "relu"})"),
             says("config.json: feature_map is \"relu\"") && says("null alone"));
  CHECK_THAT(problem(R"({"num_heads": 2, "num_kv_heads": 1})"), says("num_kv_heads is 1"));
  CHECK_THAT(problem(R"({"norm_eps": 0})"), says("norm_eps is 0; expected a number above 0"));
  CHECK_THAT(problem("[1"), says("config.json: is no JSON object"));
}

TEST_CASE("an intervention that is wrong is refused with what was expected", "[language]") {
  CHECK_THROWS_WITH(parse_intervention("adds"), says("no intervention \"adds\"") && says("only-add"));
  CHECK_THROWS_WITH(parse_intervention("beta:2"), says("needs =VALUE"));
  CHECK_THROWS_WITH(parse_intervention("only-add=3"), says("takes no value"));
  CHECK_THROWS_WITH(parse_intervention("beta:x=1"), says("the layer is \"x\""));
  CHECK_THROWS_WITH(require_place(parse_intervention("silent:4"), 4, 4), says("there is no layer 4"));
  CHECK_THROWS_WITH(require_place(parse_intervention("silent:3.9"), 4, 4), says("there is no head 9"));
  CHECK_THROWS_WITH(next_piece(delta_net(), jars, {"beta:2=-1"}),
                    says("layer 2") && says("not a number from 0"));
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
    return input_error([&] { Tokenizer{file}; });
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
    write_npz(folder / "model.npz", arrays);
    return input_error([&] { LanguageModel<float>(folder / "model.npz"); });
  };
  CHECK(problem([](Arrays&) {}).empty());
  CHECK_THAT(problem([](Arrays& all) { all.erase("emb.weight"); }), says("model.npz") && says("emb.weight"));
  CHECK_THAT(problem([](Arrays& all) { all.erase("blocks.1.mix.b_proj.weight"); }), says("blocks.1.mix."));
  CHECK_THAT(problem([](Arrays& all) { all["norm.weight"] = Array({3}, std::vector<float>(3)); }),
             says("norm.weight is [3]; expected [1, 256]"));
  CHECK_THAT(problem([](Arrays& all) {
               std::get<std::vector<float>>(all["blocks.2.up.weight"].own_values())[5] = std::nanf("");
             }),
             says("blocks.2.up.weight holds a number that is not finite"));
}
