// What a row rule computes is declared apart from its arrays: known from its settings alone, and what all its
// data have.

#include "core/base/error.h"
#include "core/rules/row_rule.h"
#include "core/variants/rail.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

constexpr RandomCase three_tokens{.tokens = 3, .dk = 4, .dv = 2, .seed = 1};

/// Rules between two rules of the rail too, at its stops and between them, gates as alpha and as g.
std::vector<Case> all_cases_and_joints() {
  std::vector<Case> cases = all_cases(three_tokens);
  for (const Variant& joint : joints()) {
    for (const double position : {0.0, 0.25, 0.75, 1.0}) {
      for (const bool log_gates : {false, true}) {
        RandomCase random = three_tokens;
        random.log_gates = log_gates;
        Settings settings;
        settings.parameters[rail_parameter] = position;
        cases.push_back(random_case(joint, settings, random));
      }
    }
  }
  return cases;
}

/// The gates of the same case with keys half as long.
Matrix<float> gates_of_other_keys(const RowRule& rule, const Case& each) {
  Arrays arrays = *each.arrays;
  for (double& k : std::get<0>(arrays.at("k").values)) k /= 2;
  const Case other = bound(*each.variant, each.settings, std::move(arrays));
  return rule.encode<float>(other.sequence, 0, 3).gate;
}

}  // namespace

TEST_CASE("what a rule declares without data is what the arrays of all its data are") {
  int row_programs = 0;
  for (const Case& each : all_cases_and_joints()) {
    INFO(each.words);
    const RowRule* const rule = each.variant->rule->row_program();
    if (!rule) continue;
    ++row_programs;
    const SaidByData& said = rule->declaration().said_by_data;
    const Program<float> rows = rule->encode<float>(each.sequence, 0, 3);
    // All fields by name: whoever adds one to Structure is asked here whether it depends on data. Erases and
    // the times of reads show in no array; the oracles know them.
    const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
                 plain_write, read_at, rows_per_read, parts] = rule->structure(each.settings);
    const bool fades = said.decay.empty() || each.sequence.has(said.decay);
    const Decay gates = rows.gate.cols() == 0   ? Decay::none
                        : rows.gate.cols() == 1 ? Decay::scalar
                                                : Decay::key;
    CHECK(gates == (fades ? decay : Decay::none));
    CHECK(rows.structure.decay == gates);
    if (gates != Decay::none) {
      CHECK((!gates_are_logs || rows.structure.gates_are_logs));
      CHECK((rows.structure.gates_are_logs ? rows.gate.maxCoeff() <= 0 : rows.gate.minCoeff() >= 0));
      if (each.arrays->contains("k")) CHECK(decay_by_key == (gates_of_other_keys(*rule, each) != rows.gate));
    }
    CHECK(rows.mu.cols() == (value_decay ? 2 : 0));
    CHECK(rows.structure.erase == erase);
    CHECK(rows.a.cols() == (erase_key ? 4 : 0));
    CHECK(rows.beta.cols() == (beta ? 1 : 0));
    CHECK(writes_value != rows.v.isZero(0));
    CHECK(rows.k_plain.cols() == (plain_write ? 4 : 0));
    CHECK(rows.structure.read_at == read_at);
    CHECK(rows.rows() == 3 * rows.structure.rows_per_read);
    CHECK((rows_per_read > 1) == (rows.rows() > 3));
    CHECK(rows.inject.cols() == static_cast<Index>(parts.size()));
  }
  CHECK(row_programs > 50);
}

TEST_CASE("a rule whose arrays are not those that it declares is refused") {
  using Change = void (*)(Structure&);
  const std::vector<Change> changes = {
      [](Structure& wrong) { wrong.decay = wrong.decay == Decay::none ? Decay::scalar : Decay::none; },
      [](Structure& wrong) { wrong.decay = wrong.decay == Decay::key ? Decay::scalar : Decay::key; },
      [](Structure& wrong) { wrong.value_decay = !wrong.value_decay; },
      [](Structure& wrong) { wrong.erase_key = !wrong.erase_key; },
      [](Structure& wrong) { wrong.beta = !wrong.beta; },
      [](Structure& wrong) { wrong.plain_write = !wrong.plain_write; },
      [](Structure& wrong) { wrong.rows_per_read += 1; },
      [](Structure& wrong) { wrong.parts = wrong.parts.empty() ? "SM" : ""; },
  };
  for (const Variant& variant : variants()) {
    const RowRule* const rule = variant.rule->row_program();
    if (!rule) continue;
    RandomCase random = three_tokens;
    random.initial_state = true;  // with the arrays that may be absent
    const Case each = random_case(variant, {}, random);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      INFO(variant.id << ", change " << i);
      RowDeclaration declaration = rule->declaration();
      declaration.said_by_data = {};
      declaration.structure = [&](const Settings&) {
        Structure structure = rule->structure(each.sequence);
        changes[i](structure);
        return structure;
      };
      CHECK_THROWS_WITH(RowRule(declaration).encode<double>(each.sequence, 0, 3),
                        says("its structure declares"));
    }
  }
}

TEST_CASE("a required parameter that nobody gave does not change what a rule computes") {
  for (const std::span<const Variant> table : {variants(), joints()}) {
    for (const Variant& variant : table) {
      INFO(variant.id);
      if (const RowRule* const rule = variant.rule->row_program())
        CHECK_NOTHROW(rule->structure(resolve(variant, {})));
    }
  }
}
