// Every fault, in every form that can have it, is noticed and found where it was made.

#include "core/proof/faults.h"

#include <fmt/format.h>

#include <ranges>

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr Index faulty_chunk = 4;

Equations equations_of(const Trace& trace) { return {trace.phases, trace.symbols}; }

struct Place {
  Index block = -1;
  std::string operation;
  Index first_row = 0;

  bool operator==(const Place&) const = default;
};

/// Where a fault must show first, without carrying it on: the first equation that gives anything but the
/// engine's result on the engine's own operands. A carry that was edited brings another operand.
Place expected_place(Trace& trace, const Equations& right, const Equations& faulty) {
  std::map<std::string, Matrix<double>> latest;
  for (Index index = 0; index < trace.block_count(); ++index) {
    const Block block = trace.block(index);
    const auto phase = static_cast<std::size_t>(block.phase);
    const Record recorded = trace.record(index);
    Record operands = recorded;
    for (const Carry& carry : faulty.phases[phase].carries) {
      if (is_among(carry, right.phases[phase].carries)) continue;
      if (latest.contains(carry.from)) {
        operands.set(carry.to, latest.at(carry.from));
      } else {
        const Matrix<double>& like = recorded.at(recorded.contains(carry.to) ? carry.to : carry.from);
        operands.set(carry.to, Matrix<double>::Zero(like.rows(), like.cols()));
      }
    }
    for (const Operation& operation : faulty.phases[phase].operations) {
      Matrix<double> value;
      try {
        value = evaluate(operation.equation.expression, operands);
      } catch (const Error&) {
        return {index, operation.id, 0};
      }
      const std::vector<double> errors =
          errors_by_row(operation.equation.result, value, recorded.at(operation.equation.result));
      const auto off = std::ranges::find_if(errors, [](double error) { return error > step_tolerance; });
      if (off != errors.end()) return {index, operation.id, off - errors.begin()};
    }
    for (const auto& [name, value] : recorded.tensors()) latest[name] = value;
  }
  return {};
}

/// The case's form with a fault, which it must be able to have, beside the right one.
struct FaultyForm {
  std::unique_ptr<Trace> trace;
  Equations faulty;

  Comparison compare() const { return compare_steps(*trace, faulty); }
};

FaultyForm faulty_form(const Case& each, const char* fault, Form form) {
  auto trace = each.trace(form, faulty_chunk);
  auto faulty = with_fault(find_fault(fault), equations_of(*trace));
  REQUIRE(faulty);
  return {std::move(trace), std::move(*faulty)};
}

/// The plan of one fault in these variants.
FaultPlan solve_sign(std::vector<std::string> variants) {
  FaultPlan plan{.faults = {"solve-sign"}};
  plan.cases.variants = std::move(variants);
  return plan;
}

}  // namespace

TEST_CASE("every fault in every form that can have it fails verification") {
  const FaultReport report = verify_faults({});
  std::map<std::string, int> faulty;
  for (const FaultyResult& result : report.results) {
    INFO(result.fault << " in " << result.variant << " " << result.options << " " << name(result.form));
    CHECK(result.noticed());
    CHECK(result.departure.has_value());
    ++faulty[result.fault];
  }
  for (const Fault& fault : faults()) {
    INFO(fault.id);
    CHECK(faulty[fault.id] > 0);
  }
  CHECK(report.noticed() == static_cast<Index>(report.results.size()));
  CHECK_FALSE(report.without.empty());
  std::set<std::string> silent;
  for (const FaultlessForm& form : report.without) {
    CHECK_FALSE(form.reason.empty());
    if (form.reason.starts_with("it changes no number"))
      silent.insert(fmt::format("{} in {} {}", form.fault, form.variant, name(form.form)));
  }
  // Nothing else may hide among the silent ones.
  CHECK(silent ==
        std::set<std::string>{"read-before-write in lact parallel", "scale-twice in kernel chunkwise",
                              "scale-twice in kernel parallel", "scale-twice in kernel recurrent",
                              "scale-twice in kernel two-pass", "state-never-fades in ttt_linear parallel",
                              // with order=apply_first, which its mask over parts says by times
                              "read-before-write in titans chunkwise", "read-before-write in titans parallel",
                              "read-before-write in titans two-pass"});
}

TEST_CASE("every fault is found at the step that was made wrong") {
  int compared = 0;
  int by_token = 0;
  for (const std::uint64_t seed : {1, 2}) {
    in_every_form(revealing_cases(seed), [&](const Case& each, Form form) {
      const auto trace = each.trace(form, faulty_chunk);
      const Equations right = equations_of(*trace);
      for (const Fault& fault : faults()) {
        const auto faulty = with_fault(fault, right);
        if (!faulty) continue;
        INFO(fault.id);
        const Place expected = expected_place(*trace, right, *faulty);
        const Comparison comparison = compare_steps(*trace, *faulty);
        REQUIRE(comparison.departure.has_value() == (expected.block >= 0));
        if (!comparison.departure) continue;
        ++compared;
        CHECK(comparison.departure->block == expected.block);
        CHECK(comparison.departure->operation == expected.operation);
        const Block block = trace->block(expected.block);
        const Index token = comparison.departure->token - block.first_token;
        CHECK(token >= 0);
        CHECK(token < block.count);
        // Where the rows of a result are tokens, its first row that is off tells the first token.
        const Operation* const operation =
            row_called(trace->phase(block).operations, expected.operation, &Operation::id);
        REQUIRE(operation);
        const std::string& result = operation->equation.result;
        const bool is_state = trace->symbols.at(result).role == Role::state;
        if (trace->record(expected.block).at(result).rows() != block.count) continue;
        if (is_state && !operation->by_row) continue;
        CHECK(comparison.departure->row == expected.first_row);
        CHECK(token == expected.first_row);
        ++by_token;
      }
    });
  }
  CHECK(compared > 1000);
  CHECK(by_token > 500);
}

TEST_CASE("faults are found where a person would look for them") {
  struct Row {
    const char* variant;
    const char* fault;
    Form form;
    Index token;
    const char* operation;
  };
  for (const Row& row : {Row{"gated_deltanet", "undecayed-erase", Form::recurrent, 0, "read"},
                         Row{"gated_deltanet", "undecayed-erase", Form::chunkwise, 1, "overlap"},
                         Row{"gated_deltanet", "strength-forgotten", Form::recurrent, 0, "update"},
                         Row{"gated_deltanet", "strength-forgotten-in-solve", Form::parallel, 1, "overlap"},
                         Row{"deltanet", "solve-sign", Form::chunkwise, 1, "solve"},
                         Row{"deltanet", "initial-state-dropped", Form::recurrent, 0, "read"},
                         Row{"linear", "initial-state-dropped", Form::chunkwise, 0, "inter"},
                         Row{"gla", "ungated-mask", Form::chunkwise, 1, "scores"},
                         Row{"retnet", "ungated-mask", Form::parallel, 1, "mask"},
                         Row{"gla", "exclusive-gates", Form::chunkwise, 0, "fade_in"},
                         Row{"linear", "edge-lost", Form::chunkwise, 3, "faded"},
                         Row{"linear", "read-before-write", Form::recurrent, 0, "output"},
                         Row{"linear", "scale-twice", Form::recurrent, 0, "output"},
                         Row{"fox", "ungated-mask", Form::recurrent, 0, "decays"},
                         Row{"longhorn", "ungated-mask", Form::two_pass, 1, "scores"},
                         Row{"longhorn", "strength-forgotten", Form::recurrent, 0, "step"},
                         Row{"softmax", "multiplicative-mask", Form::parallel, 0, "scores"},
                         Row{"softmax", "normaliser-forgotten", Form::recurrent, 0, "output"},
                         Row{"titans", "momentum-dropped", Form::recurrent, 0, "momentum"},
                         Row{"ttt_linear", "write-sign", Form::recurrent, 0, "learn_S"},
                         Row{"rls", "strength-forgotten", Form::recurrent, 0, "gain"},
                         Row{"rls", "strength-forgotten", Form::chunkwise, 0, "gains"},
                         Row{"rls", "strength-forgotten", Form::parallel, 0, "gains"}}) {
    INFO(row.fault << " in " << row.variant << " " << name(row.form));
    const Case each = revealing(find_variant(row.variant), {});
    const Comparison comparison = faulty_form(each, row.fault, row.form).compare();
    REQUIRE(comparison.departure);
    CHECK(comparison.departure->token == row.token);
    CHECK(comparison.departure->operation == row.operation);
  }
}

TEST_CASE("an ungated mask leaves no mask as it was, whatever function makes it") {
  int masks = 0;
  in_every_form(revealing_cases(4), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, faulty_chunk);
    const auto faulty = with_fault(find_fault("ungated-mask"), equations_of(*trace));
    for (std::size_t phase = 0; phase < trace->phases.size(); ++phase) {
      const std::vector<Operation>& operations = trace->phases[phase].operations;
      for (std::size_t i = 0; i < operations.size(); ++i) {
        const Expression& mask = operations[i].equation.expression;
        if (!is_among(operations[i].purpose, {Purpose::mask, Purpose::erase_mask})) continue;
        if (mask.kind() != Expression::Kind::function) continue;  // made from another mask, which it follows
        INFO(operations[i].id);
        REQUIRE(faulty);
        ++masks;
        CHECK_FALSE(faulty->phases[phase].operations[i].equation.expression == mask);
      }
    }
  });
  CHECK(masks > 30);
}

TEST_CASE("the right equations have no departure") {
  in_every_form(revealing_cases(3), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, faulty_chunk);
    const Comparison comparison = compare_steps(*trace, equations_of(*trace));
    INFO((comparison.departure ? to_string(*comparison.departure) : std::string()));
    CHECK_FALSE(comparison.departure);
    CHECK(comparison.message.empty());
  });
}

TEST_CASE("what a case cannot show stays unnoticed: one token, no state, no scale") {
  const Settings plain;
  const Case one = random_case(find_variant("deltanet"), plain, {.tokens = 1, .dk = 3, .dv = 3});
  const auto unnoticed = [](const Case& each, const char* fault, Form form) {
    const auto trace = each.trace(form, faulty_chunk);
    const auto faulty = with_fault(find_fault(fault), equations_of(*trace));
    return !faulty || !compare_steps(*trace, *faulty).departure;
  };
  CHECK(unnoticed(one, "solve-sign", Form::chunkwise));
  CHECK(unnoticed(one, "initial-state-dropped", Form::chunkwise));
  CHECK(unnoticed(one, "scale-twice", Form::recurrent));
  const Case shown = revealing(find_variant("deltanet"), plain, 1);
  CHECK_FALSE(unnoticed(shown, "solve-sign", Form::chunkwise));
  CHECK_FALSE(unnoticed(shown, "initial-state-dropped", Form::chunkwise));
  CHECK_FALSE(unnoticed(shown, "scale-twice", Form::recurrent));
}

TEST_CASE("equations that cannot even be carried out are found, and what is wrong before them first") {
  // A transposed state that is not square.
  const Case sum = random_case("linear", {.tokens = 5, .dk = 3, .dv = 4});
  const Comparison transposed = faulty_form(sum, "transposed-state", Form::recurrent).compare();
  CHECK_THAT(transposed.message, says("operation output of block 0") && says("shapes do not fit"));
  REQUIRE(transposed.departure);
  CHECK(transposed.departure->operation == "output");

  const Case delta = random_case("deltanet", {.tokens = 5, .dk = 3, .dv = 4});
  FaultyForm both = faulty_form(delta, "strength-forgotten", Form::recurrent);
  both.faulty.phases[0].operations.back().equation.expression = tensor("S_after") * tensor("q");
  const Comparison comparison = both.compare();
  CHECK_THAT(comparison.message, says("operation output of block 0") && says("shapes do not fit"));
  REQUIRE(comparison.departure);
  CHECK(comparison.departure->operation == "update");
  CHECK(comparison.departure->token == 0);
}

TEST_CASE("every fault has a name, words and a formula that can be shown") {
  std::set<std::string> ids;
  for (const Fault& fault : faults()) {
    INFO(fault.id);
    CHECK(ids.insert(fault.id).second);
    CHECK_FALSE(fault.label.empty());
    CHECK(fault.sentence.ends_with('.'));
    CHECK_FALSE(fault.needs.empty());
  }
  CHECK(faults().size() >= 12);
  CHECK_THROWS_WITH(find_fault("none"), says("known are: initial-state-dropped"));
  in_every_form(all_cases({.tokens = 5, .dk = 3, .dv = 2, .seed = 5}), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, 2);
    for (const Fault& fault : faults()) {
      const auto faulty = with_fault(fault, equations_of(*trace));
      if (!faulty) continue;
      INFO(fault.id);
      for (const Phase& phase : faulty->phases) {
        for (const Operation& operation : phase.operations) {
          for (const std::string& operand : operands(operation.equation.expression))
            CHECK(faulty->symbols.contains(operand));
        }
      }
    }
  });
}

TEST_CASE("faults find steps by what they are for, not by what they are called") {
  int edited = 0;
  in_every_form(all_cases({.tokens = 5, .dk = 3, .dv = 2, .seed = 5}), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, 2);
    Equations renamed = equations_of(*trace);
    for (Phase& phase : renamed.phases) {
      for (std::size_t i = 0; i < phase.operations.size(); ++i) {
        Operation& operation = phase.operations[i];
        for (Line& line : phase.lines) std::ranges::replace(line.operations, operation.id, std::to_string(i));
        operation.id = std::to_string(i);
      }
    }
    for (const Fault& fault : faults()) {
      INFO(fault.id);
      const auto faulty = with_fault(fault, equations_of(*trace));
      const auto other = with_fault(fault, renamed);
      REQUIRE(faulty.has_value() == other.has_value());
      if (!faulty) continue;
      CHECK(*faulty == *other);
      ++edited;
    }
  });
  CHECK(edited > 1000);
}

TEST_CASE("the lines of a faulty form show the faulty formula") {
  const Case each = revealing(find_variant("gated_deltanet"), {});
  const auto& [trace, faulty] = faulty_form(each, "strength-forgotten", Form::recurrent);
  const auto written = [](const Phase& phase, const Symbols& symbols) {
    std::string all;
    for (const Line& line : phase.lines) all += latex(line.equation, symbols);
    return all;
  };
  CHECK(written(faulty.phases[0], faulty.symbols) != written(trace->phases[0], trace->symbols));
  CHECK_THAT(written(trace->phases[0], trace->symbols), says("\\beta_t"));
  CHECK_THAT(written(faulty.phases[0], faulty.symbols), !says("\\beta_t"));
}

TEST_CASE("the report names the first token and the first step") {
  const FaultReport report = verify_faults(solve_sign({"deltanet"}));
  REQUIRE(report.results.size() == 6);  // three forms, with reads after and before the update
  REQUIRE(report.without.size() == 2);
  for (const FaultlessForm& form : report.without) CHECK(form.form == Form::recurrent);
  CHECK_THAT(to_table(report), says("fails       solve-sign in deltanet order=update_first chunkwise") &&
                                   says("fails       solve-sign in deltanet order=apply_first chunkwise") &&
                                   says("token 1, block 0, operation solve (Solved errors): U[1, ") &&
                                   says("6 of 6 faulty forms fail."));
  CHECK_THAT(to_json(report), says("\"operation\": \"solve\""));
  CHECK_THROWS_AS(verify_faults({.faults = {"none"}}), InputError);
  CHECK_FALSE(verify_faults({}, {}, stopped()).complete());
}

TEST_CASE("a fault report that was stopped says so and tells what is done") {
  std::stop_source stop;
  std::vector<FaultProgress> seen;
  const auto progress = [&](const FaultProgress& now) {
    seen.push_back(now);
    if (now.done == 16) stop.request_stop();  // all cases of the first variant
  };
  const FaultReport report = verify_faults(solve_sign({"deltanet", "kda"}), progress, stop.get_token());
  CHECK_FALSE(report.complete());
  CHECK(report.cases == 16);
  CHECK(report.planned == 32);
  REQUIRE(seen.size() == 16);
  CHECK(seen.front().variant == "deltanet");
  CHECK(seen.front().noticed == 3);
  CHECK(seen.back().total == 32);
  REQUIRE(report.results.size() == 6);
  for (const FaultyResult& result : report.results) CHECK(result.variant == "deltanet");
}

TEST_CASE("faults are looked for in the cases of any plan, in any number of threads") {
  FaultPlan plan = solve_sign({"deltanet", "kda", "linear"});
  plan.faults = {"solve-sign", "edge-lost"};
  plan.cases.random_cases = 60;
  plan.cases.forms = {Form::chunkwise, Form::parallel};
  const std::string one_thread = to_json(verify_faults(plan));
  plan.cases.jobs = 3;
  CHECK(to_json(verify_faults(plan)) == one_thread);
  plan.cases.seed = 2;
  CHECK(to_json(verify_faults(plan)) != one_thread);

  const FaultReport report = verify_faults(plan);
  CHECK(report.cases == 60);
  REQUIRE_FALSE(report.results.empty());
  CHECK(report.noticed() == static_cast<Index>(report.results.size()));
  for (const FaultyResult& result : report.results)
    CHECK((result.form == Form::chunkwise || result.form == Form::parallel));

  // Two tokens of one chunk can show a wrong solve, one cannot; none has no step at all.
  const Variant& variant = find_variant("deltanet");
  const auto in_one_case = [&](Index tokens) {
    FaultPlan one = solve_sign({});
    one.cases.forms = {Form::chunkwise};
    one.cases.cases = {{&variant, resolve(variant, {}), {.tokens = tokens}, {1, 7}}};
    return verify_faults(one);
  };
  REQUIRE(in_one_case(2).results.size() == 1);
  CHECK(in_one_case(2).results[0].noticed());
  CHECK(in_one_case(2).results[0].chunk_size == 7);
  REQUIRE(in_one_case(1).results.size() == 1);
  CHECK_FALSE(in_one_case(1).results[0].noticed());
  CHECK(in_one_case(0).results.empty());
  REQUIRE(in_one_case(0).without.size() == 1);
  CHECK_THAT(in_one_case(0).without[0].reason, says("there is no token"));
}

TEST_CASE("rounding is not taken for the first step that a fault makes wrong") {
  // Writes of zeros empty the memory: all at once its last steps are rounding, with a fault or without.
  const Variant& variant = find_variant("deltanet");
  Arrays emptied = random_arrays(variant, resolve(variant, {}), {.tokens = 300, .dk = 4, .dv = 3});
  std::ranges::fill(numbers(emptied, "v") | std::views::drop(12), 0.0);
  std::ranges::fill(numbers(emptied, "beta"), 0.9);
  const auto arrays = std::make_shared<const Arrays>(std::move(emptied));
  FaultPlan plan{.faults = {"initial-state-dropped"}};
  plan.cases.forms = {Form::parallel};
  plan.cases.cases = {
      {.variant = &variant, .given = resolve(variant, {}), .data = "emptied", .arrays = [arrays] {
         return arrays;
       }}};
  const FaultReport report = verify_faults(plan);
  REQUIRE(report.results.size() == 1);
  CHECK_FALSE(report.results[0].noticed());
  CHECK_FALSE(report.results[0].departure.has_value());
  CHECK(report.results[0].data == "emptied");

  const Case each = bound(variant, resolve(variant, {}), *arrays);
  const auto trace = each.trace(Form::parallel, 1);
  REQUIRE(compare_steps(*trace, {trace->phases, trace->symbols}).departure.has_value());
}

TEST_CASE("a plan in f32 is refused for faults, with the reason") {
  FaultPlan plan;
  plan.cases.precisions = {Precision::f32};
  CHECK_THROWS_WITH(verify_faults(plan), says("step by step in f64"));
  CHECK_THROWS_AS(verify_faults(plan), Unsupported);
}
