// Rules that can give all heads to a device at once, on engines that cannot.

#include <atomic>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/rules/backend.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;

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
  std::stop_source asked;
  asked.request_stop();
  for (const char* id : {"softmax", "mamba", "rls", "deltanet"}) {
    const testing::Case each = testing::random_case(find_variant(id), {}, {.tokens = 3});
    INFO(id);
    CHECK_THROWS_AS(each.variant->rule->run_heads({&each.sequence, 1}, Form::chunkwise, Precision::f64, 2,
                                                  asked.get_token(), cpu_engines()),
                    Cancelled);
  }
}
