#include "core/verify.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/row_rule.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A variant that the program does not know: the state decays before it is read, per head and channel, and
/// there is a write gate of its own. One encoder is all it takes.
Variant homemade(std::string id) {
  return {
      .id = std::move(id),
      .label = "Home-made",
      .words = "A gated write into a fading memory.",
      .paper = "none",
      .inputs = {decay_input({"n", "dk"}),
                 {"gate", {"n", "dv"}, Range::unit, "how much of each value channel is written"},
                 initial_state_input()},
      .parameters = {{"strength", 0.5, 2, "factor of every write"}},
      .loss = {},
      .rule = row_rule([]<class Scalar>(const Rows<Scalar>& rows) {
        return Program<Scalar>{
            .structure = {.decay = Decay::key, .gates_are_logs = rows.sequence.gates_are_logs},
            .q = rows.scaled_q(),
            .k = rows("k") * static_cast<Scalar>(rows.sequence.parameter("strength")),
            .v = rows("v").cwiseProduct(rows("gate")),
            .gate = rows("alpha")};
      }),
  };
}

/// Another variant's rule with a fault in one form.
class Faulty : public Rule {
 public:
  enum class Fault { drifts, forgets_state, not_a_number, throws, lacks_form };

  Faulty(std::shared_ptr<const Rule> rule, Fault fault) : rule_(std::move(rule)), fault_(fault) {}

  std::optional<std::string> missing(Form form, const Settings&) const override {
    if (fault_ == Fault::lacks_form && form == Form::parallel) return "it was left out";
    return std::nullopt;
  }

  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
             std::stop_token stop) const override {
    Output output = rule_->run(sequence, form, precision, chunk_size, stop);
    if (form != Form::chunkwise || sequence.tokens < 17) return output;
    if (fault_ == Fault::drifts) output.o(16, 2) *= 1 + 1e-3;
    if (fault_ == Fault::forgets_state) output.states[0].second.setZero();
    if (fault_ == Fault::not_a_number) output.o(16, 1) = quiet_nan;
    if (fault_ == Fault::throws) throw std::runtime_error("out of order");
    return output;
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget) const override {
    return rule_->trace(sequence, form, precision, chunk_size, budget);
  }

 private:
  std::shared_ptr<const Rule> rule_;
  Fault fault_;
};

VerifyReport verify_faulty(Faulty::Fault fault) {
  std::vector<Variant> table = {homemade("faulty")};
  table[0].rule = std::make_shared<Faulty>(table[0].rule, fault);
  return verify({.lengths = {1, 17}, .chunk_sizes = {7}}, table);
}

const VerifyResult& row(const VerifyReport& report, Form form, Precision precision) {
  const auto found = std::ranges::find_if(report.results, [&](const VerifyResult& result) {
    return result.form == form && result.precision == precision;
  });
  REQUIRE(found != report.results.end());
  return *found;
}

Output output(std::vector<double> o, std::vector<double> state) {
  Output result;
  result.o = Eigen::Map<Matrix<double>>(o.data(), static_cast<Index>(o.size()) / 2, 2);
  result.states = {{"S", Eigen::Map<Matrix<double>>(state.data(), static_cast<Index>(state.size()), 1)}};
  return result;
}

}  // namespace

TEST_CASE("verify passes for every variant, form and precision") {
  VerifyPlan plan;
  plan.lengths = {0, 1, 2, 17, 65};
  plan.chunk_sizes = {1, 7, 64, VerifyPlan::whole_sequence};
  plan.sizes = {{12, 7}};
  const VerifyReport report = verify(plan);
  INFO(to_table(report));
  CHECK(report.passed());
  for (const Variant& variant : variants()) {
    for (const Form form : all_forms) {
      for (const Precision precision : all_precisions) {
        const bool exists = std::ranges::any_of(option_choices(variant), [&](const Settings& given) {
          return !variant.rule->missing(form, resolve(variant, given));
        });
        INFO(variant.id << " " << name(form) << " " << name(precision));
        CHECK(exists == std::ranges::any_of(report.results, [&](const VerifyResult& result) {
                return result.variant == variant.id && result.form == form && result.precision == precision &&
                       result.runs > 0;
              }));
      }
    }
  }
}

TEST_CASE("a variant added to the table is verified and listed unasked") {
  std::vector<Variant> table(variants().begin(), variants().end());
  table.push_back(homemade("homemade"));
  CHECK(find_variant("homemade", table).label == "Home-made");

  VerifyPlan plan;
  plan.variants = {"homemade"};
  const VerifyReport report = verify(plan, table);
  INFO(to_table(report));
  CHECK(report.passed());
  REQUIRE(report.results.size() == 6);
  // 10 lengths x 2 sizes x with and without state x alpha and g; the chunkwise form in 4 or 5 chunk sizes
  // each
  CHECK(row(report, Form::recurrent, Precision::f64).runs == 80);
  CHECK(row(report, Form::chunkwise, Precision::f32).runs == 8 * (4 * 4 + 6 * 5));
  CHECK(row(report, Form::chunkwise, Precision::f32).worst.error > 0);
  CHECK_THAT(to_table(report), says("homemade"));
}

TEST_CASE("a fault in one form fails with its place and how to run it again") {
  const VerifyReport report = verify_faulty(Faulty::Fault::drifts);
  CHECK_FALSE(report.passed());
  CHECK(row(report, Form::recurrent, Precision::f64).passed());
  CHECK(row(report, Form::parallel, Precision::f32).passed());
  const VerifyResult& faulty = row(report, Form::chunkwise, Precision::f64);
  CHECK_FALSE(faulty.passed());
  CHECK(faulty.worst.array == "o");
  CHECK(faulty.worst.row == 16);
  CHECK(faulty.worst.column == 2);
  CHECK_THAT(faulty.reproduction,
             says("palimpsest run faulty --form chunkwise --device cpu --precision f64 --chunk 7 "
                  "--input random:T=17,"));
  CHECK_THAT(faulty.reproduction, says(" --param strength="));
  CHECK_THAT(to_table(report), says("FAILED: o[16, 2] is "));
}

TEST_CASE("a wrong final state, a NaN and a thrown error fail") {
  const VerifyReport forgetful = verify_faulty(Faulty::Fault::forgets_state);
  CHECK_FALSE(forgetful.passed());
  CHECK(row(forgetful, Form::chunkwise, Precision::f64).worst.array == "final_state");

  const VerifyReport not_a_number = verify_faulty(Faulty::Fault::not_a_number);
  CHECK_FALSE(not_a_number.passed());
  CHECK(row(not_a_number, Form::chunkwise, Precision::f32).worst.row == 16);
  CHECK(row(not_a_number, Form::chunkwise, Precision::f32).worst.column == 1);

  const VerifyReport thrown = verify_faulty(Faulty::Fault::throws);
  CHECK_FALSE(thrown.passed());
  CHECK(row(thrown, Form::chunkwise, Precision::f64).message == "out of order");
}

TEST_CASE("a named exception allows more where it applies, and says why") {
  std::vector<Variant> table = {homemade("faulty")};
  table[0].rule = std::make_shared<Faulty>(table[0].rule, Faulty::Fault::drifts);
  VerifyPlan plan{.lengths = {17}, .chunk_sizes = {7}};
  plan.exceptions = {
      {.variant = "faulty", .precision = Precision::f32, .tolerance = 1e-2, .reason = "it drifts"}};
  const VerifyReport report = verify(plan, table);
  CHECK(row(report, Form::chunkwise, Precision::f32).passed());
  CHECK_FALSE(row(report, Form::chunkwise, Precision::f64).passed());
  CHECK_THAT(to_table(report), says("allowed more: it drifts"));
}

TEST_CASE("a form that does not exist is listed with its reason") {
  const VerifyReport report = verify_faulty(Faulty::Fault::lacks_form);
  CHECK(report.passed());
  CHECK(report.results.size() == 4);
  REQUIRE(report.missing.size() == 2);
  CHECK(report.missing[0].form == Form::parallel);
  CHECK_THAT(to_table(report), says("missing: it was left out"));
}

TEST_CASE("the report as JSON says what the report says") {
  const auto json = nlohmann::json::parse(to_json(verify_faulty(Faulty::Fault::not_a_number)));
  CHECK(json["passed"] == false);
  REQUIRE(json["results"].size() == 6);
  const auto& faulty = json["results"][2];
  CHECK(faulty["form"] == "chunkwise");
  CHECK(faulty["precision"] == "f64");
  CHECK(faulty["error"] == "inf");
  CHECK(faulty["where"]["row"] == 16);
  CHECK(faulty["where"]["got"] == "nan");
  CHECK(faulty["passed"] == false);
  CHECK(json["results"][0]["passed"] == true);
}

TEST_CASE("progress counts up and verify can be stopped") {
  std::vector<VerifyProgress> seen;
  VerifyPlan plan{.variants = {"linear", "retnet"}, .lengths = {2}};
  verify(plan, variants(), [&](const VerifyProgress& now) { seen.push_back(now); });
  REQUIRE(seen.size() == 4);
  CHECK(seen.front().variant == "linear");
  CHECK(seen.front().done == 0);
  CHECK(seen.front().total == 3);
  CHECK(seen.back().done == 3);

  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(verify(plan, variants(), {}, stop.get_token()), Cancelled);
  plan.variants = {"nothing"};
  CHECK_THROWS_AS(verify(plan), InputError);
}

TEST_CASE("every choice of options is tried, those that exclude each other are not") {
  std::vector<std::string> choices;
  for (const Settings& choice : option_choices(find_variant("kernel"))) {
    const Settings resolved = resolve(find_variant("kernel"), choice);
    choices.push_back(resolved.options.at("feature_map_q") + " " + resolved.options.at("feature_map_k"));
  }
  CHECK(choices == std::vector<std::string>{"elu1 elu1", "relu relu", "squared squared", "taylor1 taylor1",
                                            "taylor2 taylor2", "favor favor", "relu elu1", "elu1 relu",
                                            "elu1 relu", "relu elu1"});
  CHECK(option_choices(find_variant("linear")).size() == 2);
  CHECK(option_choices(find_variant("gla")).size() == 1);
}

TEST_CASE("outputs are compared as fractions of the largest number") {
  const Output expected = output({1, -4, 2, 0}, {1, 2});
  CHECK(compare(expected, expected).error == 0);
  const Disagreement off = compare(output({1, -4, 2, 0.5}, {1, 2}), expected);
  CHECK(off.error == 0.125);
  CHECK(off.array == "o");
  CHECK(off.row == 1);
  CHECK(off.column == 1);
  CHECK(off.got == 0.5);
  CHECK(off.expected == 0);
  CHECK(compare(output({1, -4, 2, 0}, {1, 2.5}), expected).array == "final_state");
  CHECK(compare(output({1, -4, 2, 0}, {1, 2.5}), expected).error == 0.25);
  CHECK(compare(output({1, -4, quiet_nan, 0}, {1, 2}), expected).error == infinity);
  CHECK(compare(output({1, -4}, {1, 2}), expected).error == infinity);
  CHECK(compare(output({infinity, 1}, {1}), output({infinity, 1}, {1})).error == infinity);
  CHECK(compare(output({0, 0}, {0}), output({0, 0}, {0})).error == 0);
  CHECK(compare(output({0, 1e-300}, {0}), output({0, 0}, {0})).error == infinity);
  CHECK(compare(output({}, {}), output({}, {})).error == 0);
  CHECK(compare(output({}, {-infinity}), output({}, {-infinity})).error == 0);
}
