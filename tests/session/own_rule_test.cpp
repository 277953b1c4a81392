// The text of a rule of one's own as a part of the state.

#include "app/session/own_rule.h"
#include "app/session/session.h"
#include "core/variants/variants.h"
#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr const char* own_text =
    "inputs beta: strength per token\nS = S + beta k (v - 2 S^T k)^T\no = S^T q\n";
constexpr const char* wrong_text = "S = S + k (v - S^T q\no = S^T q\n";

}  // namespace

TEST_CASE("a written text is computed, and the last right one stays while it is wrong") {
  SessionState state;
  CHECK(own_rule(state) == written_text(find_variant("gated_deltanet")));
  write_rule(state, own_text);
  CHECK(own_rule(state) == own_text);
  CHECK(state.sides.front().variant == written_id(own_text));
  write_rule(state, wrong_text);
  CHECK(own_rule(state) == wrong_text);
  CHECK(state.sides.front().variant == written_id(own_text));
  const auto flaw = flaw_of(wrong_text);
  REQUIRE(flaw);
  CHECK(flaw->line == 1);
  CHECK(own_rules(state) == std::vector{written_id(own_text)});
  // An empty text is one, too.
  write_rule(state, "");
  CHECK(own_rule(state).empty());  // and not another rule's text
  CHECK(flaw_of(own_rule(state)));
  // The column counts letters, not bytes.
  CHECK(flaw_of("inputs α: gate per token\nS = α * S + wrong v^T\no = S^T q")->column == 13);
  // A rule without a text begins with one that is a rule.
  state = {};
  state.sides.front().variant = "ttt_mlp";
  CHECK_FALSE(flaw_of(own_rule(state)));
}

TEST_CASE("a text is in the state's string, and undo takes it back with its rule") {
  Session session;
  REQUIRE(session.open_named("preset:overwrite?T=12&K=4&V=4&seed=1"));
  session.wait();
  const std::string before = session.choice().variant;
  session.change([](SessionState& state) { write_rule(state, own_text); }, "rule text");
  session.wait();
  REQUIRE(session.message().empty());
  CHECK(session.computed()->agree);
  const SessionState read = parse_state_string(session.to_string());
  CHECK(read.rule == own_text);
  CHECK(read.sides.front().variant == written_id(own_text));
  session.change([](SessionState& state) { write_rule(state, wrong_text); }, "rule text");
  CHECK(session.choice().variant == written_id(own_text));
  session.undo();
  session.wait();
  CHECK(session.state().rule.empty());
  CHECK(session.choice().variant == before);
}

TEST_CASE("every text of the table says its rule, and which it is") {
  Index texts = 0;
  for (const Variant& variant : variants()) {
    if (variant.text.empty()) continue;
    INFO(variant.id);
    ++texts;
    const WrittenRule& rule = written_rule(variant.text);
    const std::vector<RuleFact> facts = rule_facts(rule);
    CHECK(facts.size() >= 4);
    CHECK(is_among("read", facts, &RuleFact::name));
    const auto nearest = NearestTo{rule.variant.id}.compute({});
    CHECK(nearest->is_same);
    CHECK(nearest->variant->id == variant.id);
  }
  CHECK(texts == 18);
  // A rule that is in no table: the delta rule, but asked with the query.
  const std::string own = "inputs beta: strength per token\nS = S + beta * k (v - S^T k)^T\no = S^T k";
  const auto nearest = NearestTo{written_rule(own).variant.id}.compute({});
  CHECK_FALSE(nearest->is_same);
  CHECK(nearest->variant->id == "deltanet");
  REQUIRE(nearest->differs.size() == 1);
  CHECK(nearest->differs.front().name == "read");
  const std::string decays =
      "inputs x: number per token; beta: strength per token\nlambda = sigmoid(x)\nS' = lambda S\n"
      "S = S' + beta k (v - S'^T k)^T\no = S^T q";
  CHECK(NearestTo{written_rule(decays).variant.id}.compute({})->variant->id == "gated_deltanet");
}
