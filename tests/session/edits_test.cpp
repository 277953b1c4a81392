#include "app/session/edits.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "app/session/inputs.h"
#include "app/session/state.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/random_states.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// T = 5 tokens of one head: keys and values of 3 and 2 channels, gates of all kinds.
DataSet with_gates() {
  return data_of(
      with_arrays(three({5, 3}, {5, 3}, {5, 2}), {{"alpha", numbers({5, 3})}, {"beta", numbers({5})}}));
}

Arrays edited(const DataSet& data, const char* variant, const Edits& edits) {
  return *make_inputs(data, 0, find_variant(variant), {}, edits).arrays;
}

/// Where two sets of arrays differ: "k[2] beta[0]".
std::string differences(const Arrays& x, const Arrays& y) {
  std::string words;
  for (const auto& [name, array] : x) {
    REQUIRE(y.contains(name));
    REQUIRE(y.at(name).size() == array.size());
    for (Index i = 0; i < array.size(); ++i) {
      if (array[i] != y.at(name)[i]) words += fmt::format("{}[{}] ", name, i);
    }
  }
  return words;
}

void refused(const DataSet& data, const Edits& edits, const std::string& words) {
  CHECK_THROWS_WITH(edited(data, "kda", edits), says(words));
}

}  // namespace

TEST_CASE("an edit changes what it says and nothing else", "[edits]") {
  const DataSet data = with_gates();
  const Arrays plain = edited(data, "kda", {});
  struct Changing {
    Edit edit;
    const char* array;
    std::vector<Index> elements;
    std::function<double(Index i, double before)> after;
  };
  const auto all = [&](const char* array) {
    std::vector<Index> elements(static_cast<std::size_t>(plain.at(array).size()));
    std::iota(elements.begin(), elements.end(), 0);
    return elements;
  };
  const auto always = [](double value) { return [=](Index, double) { return value; }; };
  const Changing edits[] = {
      {{"scale_decay", "", {3}}, "alpha", all("alpha"), [](Index, double x) { return std::pow(x, 3.0); }},
      {{"scale_decay", "", {0}}, "alpha", all("alpha"), always(1)},
      {{"scale_strength", "", {0.5}}, "beta", all("beta"), [](Index, double x) { return x * 0.5; }},
      {{"scale_keys", "", {3}}, "k", all("k"), [](Index, double x) { return x * 3; }},
      {{"set_cell", "v", {3, 1, -9}}, "v", {3 * 2 + 1}, always(-9)},
      {{"set_cell", "beta", {4, 0, 1.5}}, "beta", {4}, always(1.5)},
      {{"paint_gate", "alpha", {1, 2, 0.75}}, "alpha", {3, 4, 5, 6, 7, 8}, always(0.75)},
      {{"paint_channel", "alpha", {1, 2, 2, 0.75}}, "alpha", {5, 8}, always(0.75)},
      {{"ramp_gate", "beta", {0, 4, 2, 0}},
       "beta",
       all("beta"),
       [](Index t, double) { return 2 - 0.5 * static_cast<double>(t); }},
      {{"ramp_gate", "beta", {3, 3, 0.5, 7}}, "beta", {3}, always(0.5)},
      {{"set_everywhere", "alpha", {0.5}}, "alpha", all("alpha"), always(0.5)},
  };
  for (const auto& [edit, name, elements, after] : edits) {
    CAPTURE(edit.kind, edit.numbers);
    Arrays expected = plain;
    auto& values = std::get<0>(expected.at(name).own_values());
    for (const Index i : elements) values[static_cast<std::size_t>(i)] = after(i, plain.at(name)[i]);
    CHECK(differences(expected, edited(data, "kda", {edit})) == "");
    CHECK(differences(expected, plain) != "");
  }
  DataSet single = data;  // as captures have it
  single.arrays["v"] = Array({5, 2}, std::vector<float>(10, 0.5F));
  const Array set = edited(single, "kda", {{"set_cell", "v", {0, 1, 0.1}}}).at("v");
  CHECK(set[1] == 0.1);  // not rounded
  CHECK(set[2] == 0.5);
  // What the data lack is made up first, also where the rule could do without.
  const Arrays lact = edited(data, "lact", {{"set_everywhere", "momentum", {0.25}}});
  for (Index i = 0; i < lact.at("momentum").size(); ++i) CHECK(lact.at("momentum")[i] == 0.25);
}

TEST_CASE("a decay given as its logarithm is scaled as one, and -inf stays what it is", "[edits]") {
  DataSet data = with_gates();
  data.arrays.erase("alpha");
  data.arrays["g"] = Array({5}, std::vector<double>{-1, -0.5, 0, -2, -infinity});
  const Array twice = edited(data, "gated_deltanet", {{.kind = "scale_decay", .numbers = {2}}}).at("g");
  CHECK(std::get<std::vector<double>>(twice.values()) == std::vector<double>{-2, -1, 0, -4, -infinity});
  const Array never = edited(data, "gated_deltanet", {{.kind = "scale_decay", .numbers = {0}}}).at("g");
  CHECK(std::get<std::vector<double>>(never.values()) == std::vector<double>(5, 0.0));
  // By hand it is still the decay, or the logarithm under its own name.
  const Array painted = edited(data, "gated_deltanet", {{"paint_gate", "alpha", {1, 2, 0.25}}}).at("g");
  CHECK(painted[1] == std::log(0.25));
  CHECK(painted[2] == std::log(0.25));
  CHECK(painted[3] == -2);
  CHECK(edited(data, "gated_deltanet", {{"set_cell", "g", {0, 0, -7}}}).at("g")[0] == -7);
  CHECK_THROWS_WITH(edited(data, "gated_deltanet", {{"set_cell", "g", {0, 0, 0.5}}}),
                    says("\"value\" is 0.5; expected a number in [-inf, 0]"));
}

TEST_CASE("painting again takes the place of what it covers", "[edits]") {
  Edits edits;
  paint(edits, "beta", 2, 2, 0.5);
  paint(edits, "alpha", 2, 2, 0.5);
  paint(edits, "beta", 2, 2, 0.75);
  CHECK(edits.size() == 2);
  CHECK(edits.back() == Edit{"paint_gate", "beta", {2, 2, 0.75}});
  paint(edits, "alpha", 2, 3, 0.25, 1);
  CHECK(edits.size() == 3);
  ramp(edits, "alpha", 1, 4, 1, 0);
  CHECK(edits.size() == 2);
  CHECK(edits.back() == Edit{"ramp_gate", "alpha", {1, 4, 1, 0}});
  set_constant(edits, "beta", 1);
  CHECK(edits.size() == 2);
  CHECK(edits.back() == Edit{"set_everywhere", "beta", {1}});
}

TEST_CASE("edits are made in their order", "[edits]") {
  const DataSet data = with_gates();
  const Edit set = {"set_cell", "k", {0, 0, 4}};
  const Edit scale = {.kind = "scale_keys", .numbers = {3}};
  CHECK(edited(data, "kda", {set, scale}).at("k")[0] == 12);
  CHECK(edited(data, "kda", {scale, set}).at("k")[0] == 4);
  Edits edits = {set, scale};
  set_slider(edits, "scale_keys", 5);
  CHECK(edits == Edits{set, {.kind = "scale_keys", .numbers = {5}}});
  set_slider(edits, "scale_decay", 2);
  CHECK(slider_value(edits, "scale_decay") == 2);
  CHECK(edits.size() == 3);
  set_slider(edits, "scale_keys", 1);
  set_slider(edits, "scale_decay", 1);
  CHECK(edits == Edits{set});
  CHECK_THROWS_WITH(set_slider(edits, "decay", 2), says("there is no slider \"decay\""));
  CHECK_THROWS_WITH(slider_value(edits, "set_cell"), says("there is no slider \"set_cell\""));
}

TEST_CASE("what the data lack is made up as the edits say, and can be edited", "[edits]") {
  const DataSet data = data_of(three({5, 3}, {5, 3}, {5, 2}));
  const Arrays made =
      edited(data, "kda",
             {{.kind = "missing_decay", .numbers = {0.5}}, {.kind = "missing_strength", .numbers = {0.25}}});
  for (Index i = 0; i < 15; ++i) CHECK(made.at("alpha")[i] == 0.5);
  for (Index i = 0; i < 5; ++i) CHECK(made.at("beta")[i] == 0.25);
  const Inputs retnet =
      make_inputs(data, 0, find_variant("retnet"), {}, {{.kind = "missing_decay", .numbers = {0.5}}});
  CHECK(retnet.settings.parameters.at("gamma") == 0.5);

  const Edits painted = {{"paint_gate", "alpha", {0, 1, 0.125}}, {.kind = "missing_decay", .numbers = {0.5}}};
  const Inputs inputs = make_inputs(data, 0, find_variant("kda"), {}, painted);
  CHECK(inputs.made_up_alpha);
  for (Index i = 0; i < 15; ++i) CHECK(inputs.arrays->at("alpha")[i] == (i < 6 ? 0.125 : 0.5));
  // Sliders scale what was given; what was made up has a slider of its own.
  CHECK(edited(data, "kda", {{.kind = "scale_decay", .numbers = {2}}}).at("alpha")[0] == 0.98);

  Edits and_scaled = painted;
  set_slider(and_scaled, "scale_decay", 2);
  CHECK(differences(edited(data, "kda", and_scaled), *inputs.arrays).empty());

  // What only some variants take changes nothing in the others.
  CHECK(differences(edited(data, "linear", painted), edited(data, "linear", {})).empty());
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    CHECK_NOTHROW(make_inputs(data, 0, variant, {}, painted));
    for (const Input& input : variant.inputs) {
      if (input.absent || input.range == Range::positive_definite) continue;
      CAPTURE(input.name);
      const double value = bounds(input.range).contain(0.0)   ? 0.0
                           : bounds(input.range).contain(0.5) ? 0.5
                                                              : -0.5;
      const Arrays set = edited(data, variant.id.c_str(), {{"set_cell", input.name, {0, 0, value}}});
      if (set.contains(input.name)) CHECK(set.at(input.name)[0] == value);
    }
  }
}

TEST_CASE("a wrong edit is refused naming its field and what was expected", "[edits]") {
  const DataSet data = with_gates();
  refused(data, {{.kind = "nonsense"}},
          "edit 1 (nonsense): there is no such edit; expected one of: scale_decay,");
  refused(data, {{.kind = "scale_keys", .numbers = {2}}, {.kind = "scale_decay", .numbers = {-1}}},
          "every decay to this power: it is -1; expected a number from 0 to 1e+06");
  refused(data, {{.kind = "scale_strength", .numbers = {quiet_nan}}},
          "every write strength beta times this: it is nan; expected a number from 0 to 1e+06");
  refused(data, {{.kind = "scale_keys", .numbers = {1e300}}},
          "every key times this: it is 1e+300; expected a number from 0 to 1e+06");
  refused(data, {{.kind = "scale_keys", .numbers = {}}}, "it has 0 numbers; expected 1");
  refused(data, {{.kind = "missing_decay", .numbers = {1.5}}},
          "where the data have none: it is 1.5; expected a number from 0 to 1");
  refused(data, {{.kind = "missing_strength", .numbers = {-1}}},
          "the write strength at every token where the data have none: it is -1");
  refused(data, {{.kind = "scale_keys", .numbers = {2}}, {.kind = "scale_keys", .numbers = {3}}},
          "every key times this: it is given twice");
  const auto cell = [](const char* array, double row, double column, double value) {
    return Edits{{"set_cell", array, {row, column, value}}};
  };
  refused(data, cell("nonsense", 0, 0, 0),
          "\"array\" is \"nonsense\"; expected one of: alpha, beta, k, q, v");
  refused(data, cell("o", 0, 0, 0), "\"array\" is \"o\"");
  refused(data, cell("initial_state", 0, 0, 0), "\"array\" is \"initial_state\"");
  refused(data, cell("g", 0, 0, 0), "\"array\" is \"g\"");
  refused(data, cell("k", 5, 0, 0), "\"row\" is 5; expected one of k, 0 to 4");
  refused(data, cell("k", 0, 3, 0), "\"column\" is 3; expected one of k, 0 to 2");
  refused(data, cell("k", -1, 0, 0), "\"row\" is -1; expected a whole number from 0");
  refused(data, cell("k", 0.5, 0, 0), "\"row\" is 0.5; expected a whole number from 0");
  refused(data, cell("k", 1e300, 0, 0), "\"row\" is 1e+300");
  refused(data, cell("alpha", 0, 0, 1.5), "\"value\" is 1.5; expected a number in [0, 1], as alpha has it");
  refused(data, cell("k", 0, 0, infinity), "\"value\" is inf");
  const auto paint = [](const char* array, double from, double to, double value) {
    return Edits{{"paint_gate", array, {from, to, value}}};
  };
  refused(data, paint("k", 0, 1, 1), "\"array\" is \"k\"; expected a gate");
  refused(data, paint("alpha", 0, 5, 1), "\"to\" is 5; expected one of the tokens, 0 to 4");
  refused(data, paint("alpha", 3, 2, 1), "\"to\" is 2; expected a token from \"from\", 3, on");
  refused(data, paint("alpha", 0, 1, -1), "\"value\" is -1");
  refused(data, {{"paint_channel", "alpha", {1, 2, 3, 0.5}}},
          "\"channel\" is 3; expected one of alpha, 0 to 2");
  refused(data, {{"ramp_gate", "k", {1, 2, 3, 0.5}}}, "expected a gate");
  refused(data, {{"set_everywhere", "alpha", {2}}}, "\"value\" is 2");
  refused(data, Edits(most_edits + 1, Edit{.kind = "scale_keys", .numbers = {1}}),
          "there are 1001 edits; expected at most 1000");
}
