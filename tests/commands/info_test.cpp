#include "app/commands/info.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "app/commands/command_line.h"
#include "app/session/devices.h"
#include "core/base/text.h"
#include "core/contract/variant.h"
#include "core/proof/verify.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"
#include "tests/commands/cli.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A rule that refuses the parallel form for some options.
class ChoosyRule : public Rule {
 public:
  std::optional<std::string> missing(Form form, const Settings& settings) const override {
    const auto is = [&](const char* option, const char* value) {
      return settings.options.find(option)->second == value;
    };
    const bool refused = is("norm", "true") || (is("optimizer", "muon") && is("loss", "l2"));
    if (form != Form::parallel || !refused) return Rule::missing(form, settings);
    return "the update is not linear.";
  }
  std::vector<Output> run_heads(std::span<const Sequence> heads, Form, Precision, Index, std::stop_token,
                                const DeviceEngines&) const override {
    return std::vector<Output>(heads.size());
  }
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override {
    return find_variant("softmax").rule->trace(sequence, form, precision, chunk_size, budget, engines);
  }
};

Variant choosy() {
  return {.id = "choosy",
          .label = "Choosy",
          .words = "Has a form less.",
          .paper = "None, 2026",
          .options = {{"loss", {"dot", "l2"}, ""},
                      {"norm", {"true", "false"}, ""},
                      {"optimizer", {"muon", "sgd"}, ""}},
          .loss = {.words = "None.", .latex = "", .step = ""},
          .rule = std::make_shared<ChoosyRule>()};
}

void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(letter_count(line) <= text_width);
  }
}

}  // namespace

TEST_CASE("info lists every variant of the table, the devices and the versions", "[info]") {
  const std::string text = done({"info"}).out;
  for (const Variant& variant : variants())
    CHECK_THAT(text, says("\n  " + variant.id + " ") && says(variant.label));
  for (const Backend* backend : backends()) CHECK_THAT(text, says("\n  " + backend->name()));
  CHECK_THAT(text, says("Palimpsest ") && says("Eigen 3.") && says("CUDA"));
  check_width(text);
}

TEST_CASE("info of one variant names all it takes and gives", "[info]") {
  for (const Variant& variant : variants()) {
    const std::string text = done({"info", variant.id}).out;
    INFO(text);
    for (const Input& input : all_inputs(variant)) CHECK_THAT(text, says("\n  " + input.name + " "));
    for (const Parameter& parameter : all_parameters(variant))
      CHECK_THAT(text, says("\n  " + parameter.name + " "));
    for (const Option& option : variant.options) CHECK_THAT(text, says("\n  " + option.name + " "));
    for (const StateSet& set : state_sets(variant)) {
      for (const StateArray& state : set.states) CHECK_THAT(text, says(state.final));
    }
    for (const Form form : all_forms) {
      if (variant.rule->missing(form, resolve(variant, {}))) continue;
      CHECK_THAT(text, says(std::string("Steps of the ") + name(form) + " form"));
    }
    check_width(text);
  }
}

TEST_CASE("info --json tells everything that the table holds", "[info]") {
  const auto whole = nlohmann::json::parse(done({"info", "--json"}).out);
  CHECK(whole.at("devices").at("cpu").at("available") == true);
  const auto& json = whole.at("variants");
  CHECK(json.size() == variants().size());
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    const auto& entry = json.at(variant.id);
    CHECK(nlohmann::json::parse(palimpsest_with({"info", variant.id, "--json"}).out) == entry);
    CHECK(entry.at("inputs").size() == all_inputs(variant).size());
    CHECK(entry.at("params").size() == all_parameters(variant).size());
    CHECK(entry.at("options").size() == variant.options.size());
    for (const Form form : all_forms) {
      const auto is_missing = [&](const Settings& given) {
        return variant.rule->missing(form, resolve(variant, given)).has_value();
      };
      CHECK(entry.at("forms").at(name(form)).is_null() ==
            std::ranges::none_of(option_choices(variant), is_missing));
      CHECK(entry.at("formulas").at(name(form)).empty() == is_missing({}));
    }
    CHECK(entry.at("id") == variant.id);
    CHECK(entry.at("title") == variant.label);
    CHECK(entry.at("doc") == variant.words);
    CHECK(entry.at("paper") == variant.paper);
    for (const Input& input : all_inputs(variant)) {
      INFO(input.name);
      nlohmann::json expected = {
          {"shape", input.shape}, {"range", describe(input.range)}, {"doc", input.meaning}};
      if (input.absent) expected.update({{"optional", true}, {"default", *input.absent}});
      if (input.range == Range::decay) expected["alternative"] = "g";
      if (!describe(input.when).empty()) expected["when"] = describe(input.when);
      if (const StandIn& stands = input.stand_in; !(stands == StandIn{}))
        expected["stand_in"] = {{"value", stands.value},
                                {"like", stands.like},
                                {"random", stands.random},
                                {"learning_rate", stands.learning_rate}};
      CHECK(entry.at("inputs").at(input.name) == expected);
    }
    for (const Parameter& parameter : all_parameters(variant)) {
      INFO(parameter.name);
      nlohmann::json told = entry.at("params").at(parameter.name);
      CHECK(told.erase("range") == 1);  // minimum and maximum in words
      nlohmann::json expected = {{"type", parameter.whole ? "int" : "float"},
                                 {"minimum", parameter.minimum},
                                 {"maximum", parameter.maximum},
                                 {"doc", parameter.meaning},
                                 {"per_head", parameter.per_head}};
      if (parameter.standard) {
        expected["default"] = *parameter.standard;
      } else {
        expected["default"] = parameter.standard_words.empty() ? "required" : parameter.standard_words;
        expected["stand_in"] = parameter.stand_in;
      }
      CHECK(told == expected);
    }
    for (const Option& option : variant.options) {
      INFO(option.name);
      const auto& told = entry.at("options").at(option.name);
      REQUIRE(told.at("values").size() == option.values.size());
      for (std::size_t i = 0; i < option.values.size(); ++i) {
        const auto& value = told.at("values")[i];
        CHECK((value.is_boolean() ? value.dump() : value.get<std::string>()) == option.values[i]);
      }
      CHECK(told.at("default") ==
            (option.follows.empty() ? told.at("values")[0] : nlohmann::json(option.follows)));
      CHECK(told.at("doc") == option.meaning);
    }
    const std::vector<StateSet> sets = state_sets(variant);
    CHECK(entry.at("states").size() == (sets.size() == 1 ? sets.front().states.size() : sets.size()));
    for (const StateSet& set : sets) {
      const auto& states = sets.size() == 1 ? entry.at("states") : entry.at("states").at(set.when);
      CHECK(states.size() == set.states.size());
      const auto& arrays =
          sets.size() == 1 ? entry.at("state_arrays") : entry.at("state_arrays").at(set.when);
      for (std::size_t i = 0; i < set.states.size(); ++i) {
        const StateArray& array = set.states[i];
        INFO(array.state);
        CHECK(states[i] == array.state);
        CHECK(arrays.at(array.state).at("initial") == array.initial);
        CHECK(entry.at("inputs").at(array.initial).at("shape") == arrays.at(array.state).at("shape"));
        CHECK(std::ranges::count(entry.at("outputs"), nlohmann::json(array.final)) == 1);
      }
    }
    CHECK(entry.at("loss") == nlohmann::json{{"doc", variant.loss.words},
                                             {"latex", variant.loss.latex},
                                             {"step", variant.loss.step}});
  }
  // Some as a reader of the contract writes them.
  CHECK(json.at("kda").at("inputs").at("alpha").at("shape") == std::vector<std::string>{"n", "dk"});
  CHECK(json.at("kda").at("inputs").at("alpha").at("range") == "[0, 1]");
  CHECK(json.at("kda").at("inputs").at("alpha").at("alternative") == "g");
  CHECK(json.at("kda").at("inputs").at("initial_state").at("optional") == true);
  CHECK(json.at("retnet").at("params").at("gamma").at("default") == "required");
  CHECK(json.at("linear").at("options").at("causal").at("default") == true);
}

TEST_CASE("every key that info --json writes is documented", "[info]") {
  const std::string documented =
      read_file(std::filesystem::path(assets_folder()).parent_path() / "docs" / "info.md");
  std::set<std::string> seen;
  const auto add = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) seen.insert(key);
  };
  const auto json = nlohmann::json::parse(palimpsest_with({"info", "--json"}).out);
  add(json);
  for (const auto& device : json.at("devices")) add(device);
  for (const auto& entry : json.at("variants")) {
    add(entry);
    add(entry.at("loss"));
    for (const char* named : {"inputs", "params", "options", "forms"}) {
      for (const auto& one : entry.at(named)) {
        if (!one.is_object()) continue;
        add(one);
        if (one.contains("stand_in") && one.at("stand_in").is_object()) add(one.at("stand_in"));
      }
    }
    for (const auto& steps : entry.at("formulas")) {
      for (const auto& step : steps) add(step);
    }
    for (const auto& array : entry.at("state_arrays")) {
      if (array.contains("initial")) add(array);
    }
  }
  CHECK(seen.size() > 30);
  for (const std::string& key : seen) {
    INFO(key);
    CHECK_THAT(documented, says("`" + key + "`"));
  }
}

TEST_CASE("a variant of another table is told about unasked, with when and why a form is missing", "[info]") {
  const std::vector<Variant> table = {choosy()};
  const auto found = gap(cpu_backend(), table.front(), Form::parallel, Precision::f64);
  REQUIRE(found);
  CHECK(found->when == "norm = true, or loss = l2 with optimizer = muon");
  CHECK(found->reason == "the update is not linear.");
  CHECK_FALSE(gap(cpu_backend(), table.front(), Form::recurrent, Precision::f64));

  const std::string text = overview_text(table);
  CHECK_THAT(text, says("Missing, and why") && says("choosy parallel (if norm = true"));
  check_width(text);
  const auto json = nlohmann::json::parse(overview_json(table));
  CHECK(json.at("variants").at("choosy").at("forms").at("parallel").at("missing_when") == found->when);
}

TEST_CASE("options that exclude each other are not asked about") {
  // A device that has to bind a sequence to know what a variant is, as the CUDA backend has.
  class Binding : public Backend {
   public:
    std::string name() const override { return "binding"; }
    std::optional<std::string> missing(const Variant& variant, const Settings& settings, Form,
                                       Precision) const override {
      const Settings complete = random_settings(variant, settings, 1);
      const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, complete, {.tokens = 0}));
      variant.rule->run(bind(variant, arrays, complete).heads.front(), Form::recurrent, Precision::f64, 1);
      return std::nullopt;
    }
    const DeviceEngines& engines(Precision) const override { return cpu_engines(); }
    Output run(const Variant&, const Sequence&, Form, Precision, Index, std::stop_token) const override {
      return {};
    }
    std::vector<Output> run_heads(const Variant&, std::span<const Sequence>, Form, Precision, Index,
                                  std::stop_token, const HeadDone&) const override {
      return {};
    }
  };
  const Variant& kernel = find_variant("kernel");
  REQUIRE_FALSE(kernel.go_together(
      resolve(kernel, {.options = {{"feature_map_q", "elu1"}, {"feature_map_k", "taylor2"}}})));
  CHECK_FALSE(gap(Binding(), kernel, Form::recurrent, Precision::f64));
}

TEST_CASE("columns are aligned and wrapped", "[info]") {
  CHECK(columns({{"a", "one"}, {"longer", "two"}}) == "  a       one\n  longer  two\n");
  CHECK(columns({{"ö", "x"}, {"ab", "y"}}, 0) == "ö   x\nab  y\n");
  const std::string wrapped = columns({{"name", std::string(60, 'x') + " " + std::string(60, 'y')}});
  CHECK(columns({{"a\nb", "\x1b[2J"}, {"c", "d"}}, 0) == "a b  [2J\nc    d\n");
  CHECK(wrapped == "  name  " + std::string(60, 'x') + "\n        " + std::string(60, 'y') + "\n");
}
