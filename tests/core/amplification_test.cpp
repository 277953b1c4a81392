#include "core/rules/amplification.h"

#include <cmath>

#include "core/cases/random_case.h"
#include "core/proof/reference_run.h"
#include "core/proof/verify.h"
#include "core/proof/verify_plan.h"
#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

const RowRule& row_rule_of(const Variant& variant) { return dynamic_cast<const RowRule&>(*variant.rule); }

std::vector<double>& values(Arrays& arrays, const char* name) { return std::get<0>(arrays.at(name).values); }

/// Two thirds store values, the rest write zeros under all directions: an erasing rule empties its memory.
Case emptied(const Variant& variant, const Settings& given, Index tokens) {
  const Settings settings = random_settings(variant, given, 1);
  Arrays arrays = random_arrays(variant, settings, {.tokens = tokens, .dk = 5, .dv = 3});
  std::vector<double>& v = values(arrays, "v");
  for (std::size_t i = v.size() * 2 / 3; i < v.size(); ++i) v[i] = 0;
  for (const auto& [name, constant] : {std::pair{"alpha", 1.0}, {"mu", 1.0}, {"forget", 0.0}, {"eta", 0.5}}) {
    if (!arrays.contains(name)) continue;
    for (double& value : values(arrays, name)) value = constant;
  }
  return bound(variant, settings, arrays);
}

}  // namespace

TEST_CASE("what a memory emptied by its writes has lost is known before") {
  // K = V = 1, k = 1, beta = 1/2, v = 1 and then 0: S_t = 2^-(t+1). The parallel form adds up u_0 = 1 and
  // u_t = -2^-t to get there, terms of size 2 in all.
  const Variant& variant = find_variant("deltanet");
  constexpr Index T = 40;
  std::vector<double> v(T, 0.0);
  v[0] = 1;
  const std::vector<double> ones(T, 1.0);
  Arrays arrays;
  for (const char* name : {"q", "k"}) arrays[name] = Array({T, 1}, ones);
  arrays["v"] = Array({T, 1}, v);
  arrays["beta"] = Array({T}, std::vector<double>(T, 0.5));
  const Case decaying = bound(variant, resolve(variant, {}), arrays);
  const auto factor = [&](Form form, Index chunk_size) {
    return form_amplification(row_rule_of(variant), decaying.sequence, form, chunk_size);
  };

  const Amplification parallel = factor(Form::parallel, 1);
  const double left = 0x1p-40;
  CHECK((parallel.of("final_state") > 0.3 / left && parallel.of("final_state") < 10 / left));
  CHECK(parallel.of("o") < 10);  // a share of the largest output, which is the first
  REQUIRE(parallel.states_after.size() == T);
  CHECK(parallel.states_after[0] < 10);
  // 2^20 is beyond from the token that leaves 2^-21: more terms of size 1 add up to less than four of them.
  const Index first = parallel.first_beyond(0x1p20);
  CHECK((first >= 16 && first <= 22));
  CHECK(parallel.first_beyond(1e30) == -1);

  // A chunk of 4 loses 2^4 at most, however many there are.
  CHECK(factor(Form::chunkwise, 4).of("final_state") < 16 * 30);
  CHECK(factor(Form::two_pass, 4).of("final_state") == factor(Form::chunkwise, 4).of("final_state"));
  CHECK(factor(Form::chunkwise, T).of("final_state") == parallel.of("final_state"));
  CHECK(factor(Form::recurrent, T).of("final_state") < 100);
}

TEST_CASE("every row program's forms are off by about as much as their amplification says") {
  constexpr Index T = 330;
  constexpr double rounding = 0x1p-53;
  int beyond = 0;
  for (const Variant& variant : variants()) {
    if (!dynamic_cast<const RowRule*>(variant.rule.get())) continue;
    for (const Settings& given : option_choices(variant)) {
      const Case each = emptied(variant, given, T);
      const Output expected = each.run(Form::recurrent);
      for (const Form form : {Form::chunkwise, Form::parallel}) {
        const Index chunk_size = 16;
        const Output got = each.run(form, Precision::f64, chunk_size);
        const Amplification amplification =
            form_amplification(row_rule_of(variant), each.sequence, form, chunk_size);
        for (const Disagreement& disagreement : compare_each(got, expected)) {
          INFO(variant.id << " " << describe_options(given) << " " << name(form) << " "
                          << disagreement.array);
          const double predicted = amplification.of(disagreement.array) * rounding;
          CAPTURE(predicted);
          // Random errors of three draws, against those of one run: both within a factor of the true spread.
          CHECK(disagreement.error < 30 * std::max(predicted, 10 * rounding));
          if (disagreement.error < 1e-12) continue;
          ++beyond;
          CHECK(disagreement.error > predicted / 100);
        }
      }
    }
  }
  CHECK(beyond >= 4);
}

TEST_CASE("a form is allowed what it must lose, and told from which token") {
  const Variant& variant = find_variant("titans");
  const Case each = emptied(variant, {}, 1100);
  ReferenceRun reference(variant, {each.arrays, each.sequence}, Precision::f64);
  const Tolerance tolerance{.error = 1e-10};
  const Judgement parallel = reference.judge(each.run(Form::parallel), Form::parallel, 64, tolerance);
  CHECK(parallel.disagreement.error > tolerance.error);
  CHECK(parallel.disagreement.array.starts_with("final_"));
  CHECK(parallel.amplification > 1e6);
  CHECK(
      (parallel.amplified_from > 733 && parallel.amplified_from < 1100));  // where nothing is stored any more
  CHECK(parallel.passed());

  const Judgement chunkwise =
      reference.judge(each.run(Form::chunkwise, Precision::f64, 64), Form::chunkwise, 64, tolerance);
  CHECK(chunkwise.passed());
  CHECK(chunkwise.amplification == 1);
  CHECK(chunkwise.amplified_from == -1);

  // What is wrong elsewhere is not excused by it.
  Output wrong = each.run(Form::parallel);
  wrong.o(5, 0) += 1e-6;
  CHECK_FALSE(reference.judge(wrong, Form::parallel, 64, tolerance).passed());
  CHECK(reference.judge(wrong, Form::parallel, 64, tolerance).disagreement.array == "o");
  // Nor is any form but the one that loses it.
  Output late = each.run(Form::chunkwise, Precision::f64, 64);
  late.states = each.run(Form::parallel).states;
  CHECK_FALSE(reference.judge(late, Form::chunkwise, 64, tolerance).passed());
}

TEST_CASE("in bf16 and tf32 only factors count as coarse: a decay held so is found") {
  // 0.998 in bf16 is 1: after 257 tokens the memory holds up to 1.7 times too much.
  const Variant& variant = find_variant("scalar_decay");
  const Settings settings = resolve(variant, {});
  Arrays arrays = random_arrays(variant, settings, {.tokens = 257, .dk = 12, .dv = 7});
  for (double& alpha : values(arrays, "alpha")) alpha = 0.998;
  Arrays coarse = arrays;
  for (double& alpha : values(coarse, "alpha")) alpha = 1;
  const Case right = bound(variant, settings, arrays);
  const Case wrong = bound(variant, settings, coarse);
  for (const Precision precision : {Precision::tf32, Precision::bf16}) {
    CAPTURE(name(precision));
    ReferenceRun reference(variant, held_inputs(variant, right.arrays, settings, precision), precision);
    const Tolerance allowed = tolerance(variant, settings, Form::chunkwise, precision);
    const Judgement judged =
        reference.judge(wrong.run(Form::chunkwise, Precision::f32), Form::chunkwise, 64, allowed);
    CHECK(judged.disagreement.error > 2 * allowed.error);
    CHECK_FALSE(judged.passed());
  }
}

TEST_CASE("a symmetric array stays one when rounding is measured") {
  for (const char* id : {"mesanet", "rls"}) {
    const Variant& variant = find_variant(id);
    const Settings settings = random_settings(variant, {}, 3);
    const Case each =
        bound(variant, settings, random_arrays(variant, settings, {.tokens = 17, .dk = 5, .dv = 3}));
    ReferenceRun reference(variant, held_inputs(variant, each.arrays, settings, Precision::bf16),
                           Precision::bf16);
    CHECK_NOTHROW(reference.amplification(Form::recurrent, 1));
  }
}

TEST_CASE("a run that is allowed more is told of with its own chunk size") {
  const Variant& variant = find_variant("titans");
  const Case each = emptied(variant, {}, 1100);
  VerifyPlan plan{.forms = {Form::chunkwise}, .precisions = {Precision::f64}};
  plan.cases = {{.variant = &variant,
                 .given = each.settings,
                 .chunk_sizes = {1, 1100},
                 .data = "emptied",
                 .arrays = [&] { return each.arrays; }}};
  const VerifyReport report = verify(plan);
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].amplified.runs == 1);
  CHECK_THAT(report.results[0].amplified.why,
             says("The solve over 1100 tokens multiplies rounding in the final"));
}
