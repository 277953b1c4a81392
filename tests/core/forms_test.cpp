// Rules that can give all heads to a device at once, on engines that cannot.

#include <atomic>
#include <cmath>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/rules/backend.h"
#include "core/rules/row_rule.h"
#include "core/steps/interpreted.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/io/files.h"
#include "tests/core/overflow.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("where engines run no whole heads a rule runs each by itself") {
  for (const testing::Case& each : testing::all_cases({.tokens = 7, .dk = 6, .dv = 6, .seed = 8})) {
    const std::vector<Sequence> heads = {each.sequence, each.sequence};
    const Rule& rule = *each.variant->rule;
    for (const Form form : each.forms()) {
      INFO(each.words << ' ' << name(form));
      const auto got = rule.run_heads(heads, form, Precision::f64, 3, {}, cpu_engines());
      const Output alone = each.run(form, Precision::f64, 3);
      REQUIRE(got.size() == 2);
      for (const Output& head : got) CHECK(compare(head, alone).error == 0);
    }
    CHECK(rule.run_heads({}, Form::recurrent, Precision::f64, 3, {}, cpu_engines()).empty());
    CHECK_THROWS_AS(rule.run_heads(heads, Form::recurrent, Precision::f64, 0, {}, cpu_engines()), InputError);
  }
}

TEST_CASE("the processor tells of every head that is done") {
  const testing::Case each = testing::random_case(find_variant("linear"), {}, {.tokens = 3});
  const std::vector<Sequence> heads(5, each.sequence);
  std::atomic<int> done = 0;
  cpu_backend().run_heads(*each.variant, heads, Form::recurrent, Precision::f64, 1, {}, [&] { ++done; });
  CHECK(done == 5);
}

TEST_CASE("whole heads stop when asked to") {
  for (const char* id : {"softmax", "mamba", "rls", "deltanet"}) {
    const testing::Case each = testing::random_case(find_variant(id), {}, {.tokens = 3});
    INFO(id);
    CHECK_THROWS_AS(each.variant->rule->run_heads({&each.sequence, 1}, Form::chunkwise, Precision::f64, 2,
                                                  stopped(), cpu_engines()),
                    Cancelled);
  }
}

// The other schedule of the chunkwise form: first the states of all chunks, then all outputs.

namespace {

bool makes(const Phase& phase, std::string_view tensor) {
  return std::ranges::any_of(phase.operations,
                             [&](const Operation& operation) { return operation.equation.result == tensor; });
}

}  // namespace

TEST_CASE("two passes do the same sums as one: not a bit differs") {
  int row_programs = 0;
  for (const Case& each : all_cases({.tokens = 41, .dk = 5, .dv = 3, .seed = 7})) {
    if (!each.variant->rule->row_program()) continue;
    ++row_programs;
    for (const Precision precision : scalar_precisions) {
      for (const Index chunk_size : {1, 7, 40, 64}) {
        INFO(each.words << " " << name(precision) << " chunk " << chunk_size);
        const Output one = each.run(Form::chunkwise, precision, chunk_size);
        const Output two = each.run(Form::two_pass, precision, chunk_size);
        CHECK(two.o == one.o);
        CHECK(two.states == one.states);
      }
    }
  }
  CHECK(row_programs > 50);
}

TEST_CASE("the first pass makes every state and no output, the second no state") {
  for (const Case& each : all_cases({.tokens = 17, .dk = 3, .dv = 5, .seed = 8})) {
    if (!each.variant->rule->row_program()) continue;
    INFO(each.words);
    const auto trace = each.trace(Form::two_pass, 4);
    REQUIRE(trace->phases.size() == 2);
    CHECK(makes(trace->phases[0], "S_out"));
    CHECK_FALSE(makes(trace->phases[0], "O"));
    CHECK(makes(trace->phases[1], "O"));
    CHECK_FALSE(makes(trace->phases[1], "S_out"));
    REQUIRE(trace->block_count() == 10);
    if (!each.variant->rule->is_causal(each.sequence)) continue;
    for (Index chunk = 0; chunk < 5; ++chunk) {
      CHECK(trace->block(chunk).first_token == trace->block(5 + chunk).first_token);
      const Matrix<double> S_in = trace->record(chunk).at("S_in");
      CHECK(trace->record(5 + chunk).at("S_in") == S_in);
    }
  }
}

TEST_CASE("a second pass that fetches the state after the chunk is found") {
  const Case each = random_case(find_variant("gated_deltanet"), {}, {.tokens = 17, .dk = 3, .dv = 5});
  const auto trace = each.trace(Form::two_pass, 4);
  const Output right = each.run(Form::recurrent);
  CHECK(compare(interpret(*trace), right).error <= 1e-10);
  std::vector<Phase> phases = trace->phases;
  Carry& handed = phases[1].carries.front();
  REQUIRE(handed.from == "S_in");
  handed.from = "S_out";
  CHECK(compare(interpret(*trace, phases), right).error > 1e-2);
}

TEST_CASE("a rule without a pass for the state alone says so") {
  for (const Case& each : all_cases({.tokens = 5, .dk = 2, .dv = 2, .seed = 9})) {
    INFO(each.words);
    const auto missing = each.variant->rule->missing(Form::two_pass, each.sequence.settings);
    CHECK(missing.has_value() != (each.variant->rule->row_program() != nullptr));
    if (missing) CHECK_THROWS_WITH(each.run(Form::two_pass), says(*missing));
    if (missing) CHECK_THROWS_AS(each.trace(Form::two_pass, 4), Unsupported);
  }
}

TEST_CASE("two passes that would keep too many states are refused before they begin") {
  // 65,536 states of 64 x 64 numbers: 2.1 GB as f64 fit, and twice as wide and long do not.
  const Case each = random_case(find_variant("linear"), {}, {.tokens = 4, .dk = 64, .dv = 64});
  const auto work = [&](Index tokens, Index chunk_size) {
    Sequence longer = each.sequence;
    longer.tokens = tokens;
    return each.variant->rule->footprint(longer, Form::two_pass, Precision::f64, chunk_size);
  };
  CHECK(work(1 << 16, 1).work > 8.0 * 64 * 64 * (1 << 16));
  CHECK(work(1 << 16, 64).work < 0.1 * work(1 << 16, 1).work);
  CHECK(work(1 << 16, 1).what == "the states of all chunks");
  Sequence longer = each.sequence;
  longer.tokens = 1 << 18;
  CHECK_THROWS_WITH(require_footprint(work(1 << 18, 1), longer, Form::two_pass, 1),
                    says("for the states of all chunks") && says("The chunkwise form gives the same result"));
}

// Numbers that outgrow their type spoil what comes after them, and nothing before.

TEST_CASE("a token whose numbers overflow leaves the earlier ones of its chunk as they are") {
  for (const char* id : growing_rules) {
    const Case each = growing(id, 6);
    const Index expected = first_bad(each.run(Form::recurrent, Precision::f32).o);
    INFO(id << " from token " << expected);
    REQUIRE(expected > 5);
    REQUIRE(expected < 195);  // it does overflow, inside a chunk
    for (const Form form : {Form::chunkwise, Form::two_pass, Form::parallel}) {
      for (const Index chunk_size : {64, 200}) {
        const Index bad = first_bad(each.run(form, Precision::f32, chunk_size).o);
        INFO(name(form) << " chunk " << chunk_size << " from token " << bad);
        // Sums in another order may overflow a token earlier or later.
        CHECK(std::abs(bad - expected) <= 2);
      }
    }
  }
}
