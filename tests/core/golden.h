#pragma once

// Cases of an independent implementation: tests/data/golden.

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/io/array_file.h"
#include "tests/core/cases.h"
#include "tests/folders.h"

namespace palimpsest::testing {

inline std::filesystem::path golden_folder() { return std::filesystem::path(test_data_folder()) / "golden"; }

/// What there is and how exactly it holds.
inline nlohmann::json golden_manifest() {
  return nlohmann::json::parse(std::ifstream(golden_folder() / "manifest.json"));
}

struct Golden {
  Case given;
  Output expected;
  Arrays arrays;  // everything that the file holds
};

/// Further axes stand side by side.
inline Matrix<double> as_matrix(const Array& array) {
  Matrix<double> matrix(array.shape[0], array.shape[0] == 0 ? 0 : array.size() / array.shape[0]);
  for (Index flat = 0; flat < array.size(); ++flat) matrix.data()[flat] = array[flat];
  return matrix;
}

/// The case of one entry of the manifest.
inline Golden read_golden(const nlohmann::json& entry) {
  const Variant& variant = find_variant(entry["id"].get<std::string>());
  Settings given;
  for (const auto& [name, value] : entry["options"].items()) {
    given.options[name] =
        value.is_boolean() ? (value.get<bool>() ? "true" : "false") : value.get<std::string>();
  }
  for (const auto& [name, value] : entry["params"].items()) given.parameters[name] = value.get<double>();

  const std::string file = entry["file"].get<std::string>();
  const Npz npz = read_npz(golden_folder() / (file + ".npz"));
  Arrays inputs;
  for (const auto& [name, array] : npz.arrays) {
    if (name.starts_with("in_")) inputs[name.substr(3)] = array;
  }
  Golden golden{bound(variant, resolve(variant, given), std::move(inputs), file), {}, npz.arrays};
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

}  // namespace palimpsest::testing
