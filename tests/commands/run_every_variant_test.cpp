// What the program computes from a file is what the library computes, for every variant with everything it
// takes.

#include <fmt/format.h>

#include "core/cases/random_case.h"
#include "core/contract/sequence.h"
#include "core/proof/verify_plan.h"
#include "core/rules/rule.h"
#include "core/variants/variants.h"
#include "tests/commands/program.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Every option and parameter of settings, written out.
std::vector<std::string> as_arguments(const Settings& settings) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : settings.options)
    arguments.insert(arguments.end(), {"--param", fmt::format("{}={}", name, value)});
  for (const auto& [name, value] : settings.parameters)
    arguments.insert(arguments.end(), {"--param", fmt::format("{}={}", name, value)});
  return arguments;
}

/// The file holds what the library gives, rounded to f32 where it was computed in f32.
void check_array(const Arrays& results, const std::string& name, const Matrix<double>& expected,
                 Precision precision) {
  INFO(name);
  REQUIRE(results.contains(name));
  const Array& array = results.at(name);
  REQUIRE(array.size() == expected.size());
  CHECK(array.is_f32() == (precision == Precision::f32));
  for (Index flat = 0; flat < array.size(); ++flat) {
    const double value = expected.data()[flat];
    const double written = array.is_f32() ? static_cast<double>(static_cast<float>(value)) : value;
    if (array[flat] == written) continue;
    CHECK(array[flat] == written);
    return;
  }
}

}  // namespace

TEST_CASE("the program runs every variant, with all its arrays, options and parameters, in every form",
          "[program]") {
  std::vector<OptionChoice> choices;
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) choices.push_back({&variant, given});
  }
  const Run run;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    // Drawn parameters, chunk sizes and lengths; arrays that may be left out are given in every second case.
    VerifyCase each = random_verify_case({choices[i]}, 1, static_cast<Index>(i));
    each.random.tokens = static_cast<Index>(3 + i % 15);
    each.random.initial_state = i % 2 == 0;
    const Variant& variant = *each.variant;
    const Arrays arrays = random_arrays(variant, each.given, each.random);
    const Sequence sequence =
        palimpsest::bind(variant, std::make_shared<const Arrays>(arrays), each.given).heads.front();
    write_npz(run.input(), arrays);
    for (const Form form : all_forms) {
      const Precision precision =
          (i + static_cast<std::size_t>(form)) % 3 == 0 ? Precision::f32 : Precision::f64;
      std::filesystem::remove(run.output());
      const Ran ran = program(
          joined({"run", variant.id, "--form", name(form), "--precision", name(precision), "--chunk",
                  std::to_string(each.chunk_sizes.front()), "--input", run.input(), "--output", run.output()},
                 as_arguments(each.given)));
      INFO(variant.id << " " << describe_options(each.given) << " " << to_string(each.random) << " "
                      << name(form) << " " << ran.error);
      if (const auto reason = variant.rule->missing(form, sequence.settings)) {
        CHECK(ran.status == exit_unsupported);
        CHECK_THAT(ran.error, says(*reason));
        CHECK(ran.out.empty());
        continue;
      }
      REQUIRE(ran.status == exit_done);
      CHECK(is_one_line(ran.out));
      CHECK(ran.error.empty());
      const Output expected = variant.rule->run(sequence, form, precision, each.chunk_sizes.front());
      const Arrays results = run.result();
      const std::size_t handed_over = results.contains("column_norm") ? 1 : 0;
      CHECK(results.size() == 1 + expected.states.size() + handed_over);
      check_array(results, "o", expected.o, precision);
      for (const auto& [state, value] : expected.states)
        check_array(results, final_name(expected.states.size(), state), value, precision);
    }
  }
}
