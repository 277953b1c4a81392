#include <nlohmann/json.hpp>
#include <set>

#include "app/commands/info.h"
#include "tests/commands/cli.h"
#include "tests/folders.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::filesystem::path golden = std::filesystem::path(test_data_folder()) / "golden";

/// The members of a case that start with "in_", without that.
Arrays inputs_of(const Arrays& members) {
  Arrays inputs;
  for (const auto& [name, array] : members) {
    if (name.starts_with("in_")) inputs[name.substr(3)] = array;
  }
  return inputs;
}

/// The options and parameters of a case as --param takes them.
std::vector<std::string> settings_of(const nlohmann::json& entry) {
  std::vector<std::string> arguments;
  for (const char* kind : {"options", "params"}) {
    for (const auto& [name, value] : entry.at(kind).items()) {
      arguments.insert(
          arguments.end(),
          {"--param", name + "=" + (value.is_string() ? value.get<std::string>() : value.dump())});
    }
  }
  return arguments;
}

bool is_known(const std::string& id) {
  return std::ranges::any_of(variants(), [&](const Variant& variant) { return variant.id == id; });
}

}  // namespace

TEST_CASE("the golden cases come out of the command line in every form and precision", "[run]") {
  const auto manifest = nlohmann::json::parse(read_file(golden / "manifest.json"));
  const Run run;
  std::set<std::string> seen;
  for (const auto& entry : manifest.at("cases")) {
    const auto id = entry.at("id").get<std::string>();
    if (!is_known(id)) continue;
    seen.insert(id);
    const Arrays members = read_npz(golden / (entry.at("file").get<std::string>() + ".npz")).arrays;
    const Arrays inputs = inputs_of(members);
    const auto& tolerances = manifest.at("tolerance");
    const bool muon = id == "lact" && entry.at("options").value("optimizer", "muon") == "muon";
    for (const std::string form : entry.at("forms")) {
      for (const auto& [precision, kind] : {std::pair("f64", "float64"), std::pair("f32", "float32")}) {
        const double tolerance = tolerances.at(muon ? std::string("lact_muon_") + kind : kind);
        INFO(entry.at("file") << " " << form << " " << precision);
        const Arrays results = run.results(
            id, inputs,
            joined(settings_of(entry), {"--form", form, "--precision", precision, "--chunk", "4"}));
        CHECK(error_of("o", results.at("o"), members.at("o")) <= tolerance);
        for (const auto& name : entry.at("finals")) {
          CHECK(error_of(name, results.at(name), members.at(name)) <= tolerance);
        }
        CHECK(results.size() >= 1 + entry.at("finals").size());
      }
    }
  }
  for (const auto& entry : manifest.at("cases")) CHECK(seen.contains(entry.at("id").get<std::string>()));
}
