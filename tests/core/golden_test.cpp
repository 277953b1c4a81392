// The results of an independent implementation (tests/data/golden) in every form.

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/core/golden.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

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
  const nlohmann::json manifest = golden_manifest();
  // Newton and Schulz multiply rounding by up to 485: the manifest allows more where Muon is used.
  const auto tolerance = [&](const Case& each, Precision precision) -> double {
    const std::string name = precision == Precision::f64 ? "float64" : "float32";
    return manifest["tolerance"][each.allowed(1) > 1 ? "lact_muon_" + name : name];
  };
  int cases = 0;
  for (const nlohmann::json& entry : manifest["cases"]) {
    const Golden golden = read_golden(entry);
    ++cases;
    const std::vector<Form> existing = golden.given.forms();
    for (const nlohmann::json& form_name : entry["forms"]) {
      INFO(golden.given.words << " " << form_name);
      CHECK(std::ranges::find(existing, form_name.get<std::string>(), [](Form f) { return name(f); }) !=
            existing.end());
    }
    for (const Form form : existing) {  // two passes too, which the manifest does not name
      for (const Index chunk_size : {1, 4, 7, 64}) {
        for (const Precision precision : scalar_precisions) {
          const Output got = as_far_as(golden.expected, golden.given.run(form, precision, chunk_size));
          const Disagreement worst = compare(got, golden.expected);
          INFO(fmt::format("{} {} {} chunk {}: {}[{}, {}] is {}, expected {}", golden.given.words, name(form),
                           name(precision), chunk_size, worst.array, worst.row, worst.column, worst.got,
                           worst.expected));
          CHECK(worst.error <= tolerance(golden.given, precision));
        }
      }
    }
  }
  CHECK(cases == 172);
}
