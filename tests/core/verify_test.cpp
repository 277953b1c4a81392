#include "core/proof/verify.h"

#include <nlohmann/json.hpp>

#include "core/rules/row_rule.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// A variant that the program does not know: the state decays before it is read, per head and channel, and
/// there is a write gate of its own. What it computes and one encoder are all it takes.
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
      .rule = row_rule({.decay = Decay::key},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         return Program<Scalar>{
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
  enum class Fault { drifts, forgets_state, not_a_number, throws, lacks_form, drifts_late };

  Faulty(std::shared_ptr<const Rule> rule, Fault fault) : rule_(std::move(rule)), fault_(fault) {}

  std::optional<std::string> missing(Form form, const Settings&) const override {
    if (fault_ == Fault::lacks_form && form == Form::parallel) return "it was left out";
    return std::nullopt;
  }

  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override {
    std::vector<Output> outputs = rule_->run_heads(heads, form, precision, chunk_size, stop, engines);
    for (Output& output : outputs) spoil(output, form);
    return outputs;
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override {
    return rule_->trace(sequence, form, precision, chunk_size, budget, engines);
  }

 private:
  void spoil(Output& output, Form form) const {
    const Index tokens = output.o.rows();
    if (form != Form::chunkwise || tokens < 17) return;
    if (fault_ == Fault::drifts_late && tokens > 4100) output.o(4100, 0) += 1;
    const Index last = output.o.cols() - 1;  // random cases may have a single channel
    if (fault_ == Fault::drifts) output.o(16, std::min<Index>(2, last)) *= 1 + 1e-3;
    if (fault_ == Fault::forgets_state) output.states[0].second.setZero();
    if (fault_ == Fault::not_a_number) output.o(16, std::min<Index>(1, last)) = quiet_nan;
    if (fault_ == Fault::throws) throw std::runtime_error("out of order");
  }

  std::shared_ptr<const Rule> rule_;
  Fault fault_;
};

std::vector<Variant> faulty_table(Faulty::Fault fault) {
  std::vector<Variant> table = {homemade("faulty")};
  table[0].rule = std::make_shared<Faulty>(table[0].rule, fault);
  return table;
}

VerifyReport verify_faulty(Faulty::Fault fault) {
  return verify({.lengths = {1, 17}, .chunk_sizes = {7}, .keeps = false}, faulty_table(fault));
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
  const VerifyReport report = verify({.lengths = {0, 1, 2, 17, 33},
                                      .chunk_sizes = {1, 7, 32, VerifyPlan::whole_sequence},
                                      .sizes = {{12, 7}}});
  INFO(to_table(report));
  CHECK(report.passed());
  CHECK(
      std::ranges::all_of(report.results, [](const VerifyResult& result) { return result.overflown == 0; }));
  for (const Variant& variant : variants()) {
    for (const Form form : all_forms) {
      for (const Precision precision : scalar_precisions) {
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

TEST_CASE("long texts, and texts that forget nothing, agree too") {
  VerifyPlan plan{.lengths = {16, 33},
                  .chunk_sizes = {64},
                  .sizes = {{9, 5}},
                  .initial_states = {},
                  .long_lengths = {333},
                  .batch_sizes = {8},
                  .jobs = 2};
  const VerifyReport report = verify(plan);
  INFO(to_table(report));
  CHECK(report.passed());
  const auto cases_of = [&](const char* id) {
    plan.variants = {id};
    return verify(plan).cases;
  };
  // In both orders of read: short and long ones that keep all, and a long one that does not.
  CHECK(cases_of("retnet") == 2 * (2 + 1 + 1));
  CHECK(cases_of("deltanet") == 2);  // never forgets
  const Variant& titans = find_variant("titans");
  const Arrays kept = random_arrays(titans, resolve(titans, {}), {.tokens = 9, .keeps = true});
  for (Index t = 0; t < 9; ++t) CHECK(kept.at("forget")[t] == 0);
  CHECK(parse_random_case("random:T=9,keeps") == RandomCase{.tokens = 9, .keeps = true});
  CHECK(to_string(RandomCase{.keeps = true}) == "random:T=17,K=12,V=7,p=5,seed=1,keeps");
}

TEST_CASE("lengths that are asked for are run by every form of every choice of options, and no others") {
  const std::vector<Index> asked = {0, 1, 15, 16, 17, 63, 64, 65, 1000, 8192};
  const PlannedCases planned(plan_of_lengths(asked), variants());
  std::map<std::string, std::map<Index, Index>> cases;
  for (Index index = 0; index < planned.size; ++index) {
    const VerifyCase each = planned.at(index);
    ++cases[each.variant->id + " " + describe_options(each.given)][each.random.tokens];
  }
  CHECK(cases.size() == planned.choices.size());
  for (const auto& [choice, lengths] : cases) {
    INFO(choice);
    CHECK(lengths.size() == asked.size());
    for (const Index tokens : asked) CHECK(lengths.contains(tokens));
    CHECK(lengths.at(8192) == 1);
    CHECK(lengths.at(64) > lengths.at(1000));
  }

  VerifyPlan plan = plan_of_lengths({0, 17, 301});
  plan.variants = {"deltanet", "softmax"};
  const VerifyReport report = verify(plan);
  INFO(to_table(report));
  CHECK(report.passed());
  REQUIRE(report.lengths.size() == 3 * std::size(scalar_precisions));
  Index runs = 0;
  for (const LengthResult& length : report.lengths) {
    INFO(length.tokens << ' ' << name(length.precision));
    CHECK(length.rows == report.rows(length.precision));
    CHECK((length.tokens == 0 ? length.worst == 0 : length.worst > 0));
    runs += length.runs;
  }
  CHECK(runs == report.runs());
  CHECK_THAT(to_table(report), says("    301  f32"));
  CHECK(nlohmann::json::parse(to_json(report))["lengths"].size() == report.lengths.size());
}

TEST_CASE("a fault beyond 4100 tokens is found where such a length is asked for") {
  const std::vector<Variant> table = faulty_table(Faulty::Fault::drifts_late);
  const auto report_of = [&](VerifyPlan plan) {
    plan.forms = {Form::chunkwise};
    plan.precisions = {Precision::f64};
    return verify(plan, table);
  };
  CHECK(report_of({.lengths = {17}, .keeps = false, .long_lengths = thorough_plan().long_lengths}).passed());
  const VerifyReport report = report_of(plan_of_lengths({17, 8192}));
  CHECK_FALSE(report.passed());
  REQUIRE(report.lengths.size() == 2);
  CHECK(report.lengths[0].failed == 0);
  CHECK(report.lengths[1].tokens == 8192);
  CHECK(report.lengths[1].failed == report.lengths[1].runs);
  CHECK(report.results[0].worst.row == 4100);
  CHECK_THAT(to_table(report), says("1 of 1") && says("1 FAILED"));
}

TEST_CASE("a variant added to the table is verified and listed unasked") {
  std::vector<Variant> table(variants().begin(), variants().end());
  table.push_back(homemade("homemade"));
  CHECK(find_variant("homemade", table).label == "Home-made");

  const VerifyReport report = verify({.variants = {"homemade"}, .keeps = false}, table);
  INFO(to_table(report));
  CHECK(report.passed());
  REQUIRE(report.results.size() == 8);
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
  CHECK_THAT(faulty.reproduction, says("palimpsest verify --variant faulty --case random:T=17,") &&
                                      says(" --form chunkwise --device cpu --precision f64 --chunk 7"));
  CHECK_THAT(faulty.reproduction, says(" --param strength="));
  CHECK_THAT(to_table(report), says("FAILED in 4 runs, worst: o[16, 2] is "));
}

TEST_CASE("a wrong final state, a NaN and a thrown error fail") {
  const auto failed = [](Faulty::Fault fault) {
    const VerifyReport report = verify_faulty(fault);
    CHECK_FALSE(report.passed());
    return row(report, Form::chunkwise, Precision::f64);
  };
  CHECK(failed(Faulty::Fault::forgets_state).worst.array == "final_state");
  CHECK(failed(Faulty::Fault::not_a_number).worst.row == 16);
  CHECK(failed(Faulty::Fault::not_a_number).worst.column == 1);
  CHECK(failed(Faulty::Fault::throws).message == "out of order");
}

TEST_CASE("a named exception allows more where it applies, and says why") {
  const VerifyReport report =
      verify({.variants = {"lact"}, .lengths = {17}, .chunk_sizes = {7}, .keeps = false});
  CHECK(report.passed());
  CHECK_THAT(to_table(report), says("allowed more: Muon multiplies rounding by up to 485"));
  Index more = 0;  // runs of Muon in f32
  for (const VerifyResult& each : report.results) {
    CHECK(each.exception.empty() == (each.tolerance <= 2e-5));
    if (!each.exception.empty()) more += each.runs;
  }
  REQUIRE(report.lengths.size() == 2);
  CHECK(report.lengths[0].more == 0);
  CHECK(report.lengths[1].more >= more);
  CHECK(more > 0);
}

TEST_CASE("a form that does not exist is listed with its reason") {
  const VerifyReport report = verify_faulty(Faulty::Fault::lacks_form);
  CHECK(report.passed());
  CHECK(report.results.size() == 6);
  REQUIRE(report.missing.size() == 2);
  CHECK(report.missing[0].form == Form::parallel);
  CHECK_THAT(to_table(report), says("f64, f32  missing: it was left out"));  // one line for both
}

TEST_CASE("the report as JSON says what the report says") {
  const auto json = nlohmann::json::parse(to_json(verify_faulty(Faulty::Fault::not_a_number)));
  CHECK(json["passed"] == false);
  REQUIRE(json["results"].size() == 8);
  const auto& faulty = json["results"][2];
  CHECK(faulty["form"] == "chunkwise");
  CHECK(faulty["precision"] == "f64");
  CHECK(faulty["error"] == "inf");
  CHECK(faulty["where"]["row"] == 16);
  CHECK(faulty["where"]["got"] == "nan");
  CHECK(faulty["passed"] == false);
  CHECK(json["results"][0]["passed"] == true);
}

TEST_CASE("progress counts up; asked to stop, verify reports what is done") {
  std::vector<VerifyProgress> seen;
  VerifyPlan plan{.variants = {"linear", "retnet"}, .lengths = {2}, .keeps = false};
  const VerifyReport whole =
      verify(plan, variants(), [&](const VerifyProgress& now) { seen.push_back(now); });
  // 2 sizes x with and without state, for four choices of options and two
  REQUIRE(seen.size() == 24);
  CHECK(seen.front().variant == "linear");
  CHECK(seen.front().done == 1);
  CHECK(seen.back().done == 24);
  CHECK(seen.back().total == 24);
  const auto worst = [&](Precision precision) {
    return seen.back().worst[static_cast<std::size_t>(precision)];
  };
  CHECK(worst(Precision::f32) > worst(Precision::f64));
  CHECK(worst(Precision::bf16) == 0);
  CHECK(whole.complete());

  std::stop_source stop;
  const auto after_three = [&](const VerifyProgress& now) {
    if (now.done == 3) stop.request_stop();
  };
  const VerifyReport part = verify(plan, variants(), after_three, stop.get_token());
  CHECK_FALSE(part.complete());
  CHECK(part.cases == 3);
  CHECK(part.planned == 24);
  CHECK(part.runs() < whole.runs());
  CHECK(nlohmann::json::parse(to_json(part))["complete"] == false);
  plan.variants = {"nothing"};
  CHECK_THROWS_AS(verify(plan), InputError);
}

TEST_CASE("random cases are the same for a seed, and as many threads as there are change nothing") {
  VerifyPlan plan{.random_cases = 60};
  const std::string one_thread = to_json(verify(plan));
  plan.jobs = 3;
  CHECK(to_json(verify(plan)) == one_thread);
  plan.seed = 2;
  CHECK(to_json(verify(plan)) != one_thread);

  VerifyPlan combinations{.variants = {"gated_deltanet"}, .lengths = {0, 17}};
  const std::string in_order = to_json(verify(combinations));
  combinations.jobs = 3;
  CHECK(to_json(verify(combinations)) == in_order);
}

TEST_CASE("random cases draw every variant, option, awkward length, chunk, state, gate and parameter") {
  std::vector<OptionChoice> choices;
  for (const Variant& variant : variants()) {
    for (const Settings& given : option_choices(variant)) choices.push_back({&variant, given});
  }
  std::set<std::string> drawn;
  std::set<Index> lengths;
  std::set<std::pair<bool, bool>> states_and_gates;
  std::map<std::string, std::set<double>> values;
  int whole_in_one_chunk = 0;
  int long_ones = 0;
  int keeping = 0;
  for (Index index = 0; index < 4000; ++index) {
    const VerifyCase each = random_verify_case(choices, 1, index);
    drawn.insert(each.variant->id + " " + describe_options(each.given));
    lengths.insert(each.random.tokens);
    states_and_gates.insert({each.random.initial_state, each.random.log_gates});
    for (const auto& [name, value] : each.given.parameters)
      values[each.variant->id + " " + name].insert(value);
    REQUIRE(each.chunk_sizes.size() == 1);
    if (each.chunk_sizes.front() >= each.random.tokens) ++whole_in_one_chunk;
    CHECK(each.random.tokens <= 4096);
    if (each.random.tokens > 300) ++long_ones;
    if (each.random.keeps) ++keeping;
    CHECK((each.random.dk >= 1 && each.random.dk <= 24));
    CHECK_NOTHROW(resolve(*each.variant, each.given));
  }
  CHECK(drawn.size() == choices.size());
  for (const Index awkward : {0, 1, 2, 15, 16, 17, 63, 64, 65, 257}) CHECK(lengths.contains(awkward));
  CHECK(states_and_gates.size() == 4);
  for (const auto& [name, several] : values) {
    INFO(name);
    CHECK(several.size() > 3);
  }
  CHECK((long_ones > 4 && long_ones < 40));
  CHECK((keeping > 300 && keeping < 700));
  CHECK((whole_in_one_chunk > 400 && whole_in_one_chunk < 3600));
  // Fixed for all machines and libraries.
  const VerifyCase fixed = random_verify_case({{&find_variant("kda"), {}}}, 7, 3);
  CHECK(to_string(fixed.random) == "random:T=128,K=3,V=24,p=7,seed=3549715915");
}

TEST_CASE("random cases find a fault, and the reported case shows it again") {
  for (const Faulty::Fault fault :
       {Faulty::Fault::drifts, Faulty::Fault::not_a_number, Faulty::Fault::throws}) {
    const std::vector<Variant> table = faulty_table(fault);
    const VerifyReport report = verify({.random_cases = 50}, table);
    CHECK_FALSE(report.passed());
    CHECK(row(report, Form::recurrent, Precision::f32).passed());
    const VerifyResult& found = row(report, Form::chunkwise, Precision::f64);
    CHECK_FALSE(found.passed());
    CHECK(found.failed < found.runs);  // short sequences are right

    // The case as the command line names it.
    const std::string& command = found.reproduction;
    const auto word_after = [&](const std::string& option) {
      const std::size_t first = command.find(option + " ") + option.size() + 1;
      return command.substr(first, command.find(' ', first) - first);
    };
    const RandomCase random = parse_random_case(word_after("--case"));
    Settings given;
    for (std::size_t at = command.find("--param "); at != std::string::npos;
         at = command.find("--param ", at + 1)) {
      const std::string assignment = command.substr(at + 8, command.find(' ', at + 8) - at - 8);
      const std::size_t equals = assignment.find('=');
      given.parameters[assignment.substr(0, equals)] = std::stod(assignment.substr(equals + 1));
    }
    const VerifyReport again =
        verify({.forms = {Form::chunkwise},
                .precisions = {Precision::f64},
                .cases = {{&table[0], resolve(table[0], given), random, {std::stol(word_after("--chunk"))}}}},
               table);
    REQUIRE(again.results.size() == 1);
    CHECK(again.results[0].runs == 1);
    CHECK_FALSE(again.results[0].passed());
    CHECK(again.results[0].worst.error == found.worst.error);
    CHECK(again.results[0].worst.row == found.worst.row);
    CHECK(again.results[0].reproduction == found.reproduction);
  }
}

TEST_CASE("a case whose numbers amplify rounding is allowed as much more, and counted") {
  // One token of linear attention, o = (q.k) v, with q and k nearly orthogonal: q.k = 1e-6 is a sum of terms
  // of size 1, so that rounding the inputs once moves it by 2^-24 / 1e-6 of itself.
  const Variant& variant = find_variant("linear");
  const VerifyCase ordinary{&variant, resolve(variant, {}), {.tokens = 17}};
  CHECK(reference_run(ordinary, Precision::f32).amplification(Form::recurrent, 1).of("o") < 10);

  // The first seed of a single token of two channels whose error in f32 is beyond the usual tolerance.
  VerifyPlan plan{.variants = {"linear"}, .forms = {Form::recurrent}, .precisions = {Precision::f32}};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed)
    plan.cases.push_back({&variant, resolve(variant, {}), {.tokens = 1, .dk = 2, .dv = 1, .seed = seed}});
  const VerifyReport report = verify(plan);
  INFO(to_table(report));
  CHECK(report.passed());
  REQUIRE(report.results.size() == 1);
  const VerifyResult& result = report.results[0];
  CHECK(result.amplified.runs > 0);
  CHECK(result.amplified.runs < 30);
  CHECK(result.amplified.error > 2e-5);
  CHECK(result.amplified.factor > 10);
  CHECK_THAT(to_table(report), says("These inputs multiply rounding in the outputs by"));
  const auto json = nlohmann::json::parse(to_json(report));
  CHECK(json["results"][0]["amplified"]["runs"] == result.amplified.runs);
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
  CHECK(option_choices(find_variant("linear")).size() == 4);
  CHECK(option_choices(find_variant("gla")).size() == 2);
  CHECK(option_choices(find_variant("softmax")).size() == 1);
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
