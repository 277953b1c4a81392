// What a rule computes is known from its settings alone: it is what any data of it have.

#include "core/rules/structure_of.h"

#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

TEST_CASE("the structure of a rule without data is that of all its data") {
  int row_programs = 0;
  for (const Case& each : all_cases({.tokens = 3, .dk = 4, .dv = 3, .seed = 1})) {
    INFO(each.words);
    const auto known = structure_of(*each.variant, each.settings);
    const auto* rule = dynamic_cast<const RowRule*>(each.variant->rule.get());
    REQUIRE(known.has_value() == (rule != nullptr));
    if (!rule) continue;
    ++row_programs;
    const Structure bound = rule->encode<float>(each.sequence, 0, 3).structure;
    // All fields by name: whoever adds one to Structure is asked here whether it depends on data.
    const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
                 plain_write, read_at, rows_per_read, parts] = *known;
    CHECK((decay == bound.decay || decay == Decay::none));  // an optional array may bring one
    CHECK(value_decay == bound.value_decay);
    CHECK(erase == bound.erase);
    CHECK(erase_key == bound.erase_key);
    CHECK(beta == bound.beta);
    CHECK(writes_value == bound.writes_value);
    CHECK(decay_by_key == bound.decay_by_key);
    CHECK(plain_write == bound.plain_write);
    CHECK(read_at == bound.read_at);
    CHECK(parts == bound.parts);
    CHECK((!gates_are_logs || bound.gates_are_logs));
    CHECK((rows_per_read > 1) == (bound.rows_per_read > 1));
  }
  CHECK(row_programs > 50);
}

TEST_CASE("a required parameter that nobody gave does not change what a rule computes") {
  for (const Variant& variant : variants()) {
    INFO(variant.id);
    CHECK_NOTHROW(structure_of(variant, resolve(variant, {})));
  }
}
