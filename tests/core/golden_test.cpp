// The results of an independent implementation (tests/data/golden) in every form.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/io/npz.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::filesystem::path folder = std::filesystem::path(PALIMPSEST_TEST_DATA) / "golden";

struct Golden {
  Case given;
  Output expected;
};

Matrix<double> as_matrix(const Array& array) {
  const Index columns = array.rank() == 1 ? 1 : array.shape[1];
  Matrix<double> matrix(array.shape[0], columns);
  for (Index flat = 0; flat < array.size(); ++flat) matrix.data()[flat] = array[flat];
  return matrix;
}

Golden read_golden(const nlohmann::json& entry) {
  const Variant& variant = find_variant(entry["id"].get<std::string>());
  Settings given;
  for (const auto& [name, value] : entry["options"].items()) {
    given.options[name] =
        value.is_boolean() ? (value.get<bool>() ? "true" : "false") : value.get<std::string>();
  }
  for (const auto& [name, value] : entry["params"].items()) given.parameters[name] = value.get<double>();

  const std::string file = entry["file"].get<std::string>();
  const Npz npz = read_npz(folder / (file + ".npz"));
  Arrays inputs;
  for (const auto& [name, array] : npz.arrays) {
    if (name.starts_with("in_")) inputs[name.substr(3)] = array;
  }
  Golden golden{bound(variant, resolve(variant, given), std::move(inputs), file), {}};
  golden.expected.o = as_matrix(npz.arrays.at("o"));
  const std::vector<std::string> states = states_of(variant, golden.given.settings);
  for (const std::string& state : states) {
    const auto final_state = npz.arrays.find(final_name(states.size(), state));
    // Where a state does not matter to what follows, the file may lack it.
    if (final_state != npz.arrays.end())
      golden.expected.states.emplace_back(state, as_matrix(final_state->second));
  }
  return golden;
}

/// `output` with those states only that `expected` has.
Output as_far_as(const Output& expected, Output output) {
  std::erase_if(output.states, [&](const auto& state) {
    return std::ranges::none_of(expected.states,
                                [&](const auto& other) { return other.first == state.first; });
  });
  return output;
}

}  // namespace

TEST_CASE("every form gives the golden results") {
  const nlohmann::json manifest = nlohmann::json::parse(std::ifstream(folder / "manifest.json"));
  // Newton and Schulz multiply rounding by up to 485: the manifest allows more where Muon is used.
  const auto tolerance = [&](const Case& each, Precision precision) -> double {
    const std::string name = precision == Precision::f64 ? "float64" : "float32";
    return manifest["tolerance"][each.allowed(1) > 1 ? "lact_muon_" + name : name];
  };
  int cases = 0;
  for (const nlohmann::json& entry : manifest["cases"]) {
    const Golden golden = read_golden(entry);
    ++cases;
    for (const nlohmann::json& form_name : entry["forms"]) {
      const auto form =
          std::ranges::find(all_forms, form_name.get<std::string>(), [](Form f) { return name(f); });
      REQUIRE(form != std::end(all_forms));
      for (const Index chunk_size : {1, 4, 7, 64}) {
        for (const Precision precision : all_precisions) {
          const Output got = as_far_as(golden.expected, golden.given.run(*form, precision, chunk_size));
          const Disagreement worst = compare(got, golden.expected);
          INFO(fmt::format("{} {} {} chunk {}: {}[{}, {}] is {}, expected {}", golden.given.words,
                           name(*form), name(precision), chunk_size, worst.array, worst.row, worst.column,
                           worst.got, worst.expected));
          CHECK(worst.error <= tolerance(golden.given, precision));
        }
      }
    }
  }
  CHECK(cases == 172);
}
