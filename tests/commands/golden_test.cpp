#include <nlohmann/json.hpp>
#include <set>

#include "app/commands/support.h"
#include "tests/commands/cli.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const std::filesystem::path golden = std::filesystem::path(PALIMPSEST_TEST_DATA) / "golden";

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
    for (const char* form : {"recurrent", "chunkwise", "parallel"}) {
      for (const auto& [precision, tolerance] : {std::pair("f64", 1e-12), std::pair("f32", 5e-5)}) {
        INFO(entry.at("file") << " " << form << " " << precision);
        const Arrays results = run.results(
            id, inputs,
            joined(settings_of(entry), {"--form", form, "--precision", precision, "--chunk", "4"}));
        std::size_t expected = 1;
        CHECK(error_of(results.at("o"), members.at("o")) <= tolerance);
        for (const auto& name : entry.at("finals")) {
          CHECK(error_of(results.at(name), members.at(name)) <= tolerance);
          ++expected;
        }
        CHECK(results.size() == expected);
      }
    }
  }
  CHECK(seen.size() == variants().size());
}
