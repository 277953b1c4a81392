// A name in a record stands for the same numbers wherever it is shown.

#include <set>

#include "core/insight/learning.h"
#include "core/rules/row_rule.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// What the engines of row programs and of softmax call what they make: no input of a variant may be called
/// so. X_before, X_moved and X_after are a state X in parts.
const std::set<std::string_view> taken_names = {
    // One token of a row program.
    "S_before", "S_decayed", "old", "error", "update", "plain_update", "S_after", "o",
    // A chunk or the sequence; X_before and X_after are a state X in parts.
    "G", "G_before", "G_erase", "g_in", "g_before", "g_erase", "g_out", "g_total", "m_in", "m_before",
    "m_out", "m_total", "P", "P_plain", "N", "N_plain", "R", "U", "read_times", "erase_times", "last_steps",
    "first_steps", "O_inter", "O_intra", "O", "S_in", "S_written", "S_out", "S_final",
    // How the parts of a state move.
    "transition", "inject", "read_sight", "erase_sight",
    // Softmax: a token, and in capitals a tile or the sequence.
    "x", "m", "w", "l", "y", "X", "E", "Y", "A", "l_in", "Y_in", "decays", "K_cache", "V_cache",
    "first_query", "first_key", "queries", "keys"};

/// Linear attention that writes with half of `input` and calls that `strength`.
Variant halving(const std::string& input, const std::string& strength) {
  Notation notation{.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = strength},
                    .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = strength},
                    .symbols = {{"half", {"h_t", Role::strength, "half of it"}}}};
  return {.id = "halving",
          .label = "Halving",
          .words = "A write that counts half.",
          .paper = "none",
          .inputs = {{input, {"n"}, Range::unit, "twice the strength"}, initial_state_input()},
          .loss = {},
          .rule = row_rule(
              {.beta = true},
              [input]<class Scalar>(const Rows<Scalar>& rows) {
                return Program<Scalar>{
                    .q = rows.scaled_q(), .k = rows("k"), .v = rows("v"), .beta = rows(input) / Scalar(2)};
              },
              notation)};
}

}  // namespace

TEST_CASE("a rule that computes with other numbers than the input whose name it shows is refused") {
  const Variant wrong = halving("beta", "beta");
  const Variant right = halving("beta", "half");
  const Variant taken = halving("update", "half");
  const Case of_wrong = random_case(wrong, {}, {.tokens = 9, .dk = 3, .dv = 2});
  const Case of_right = random_case(right, {}, {.tokens = 9, .dk = 3, .dv = 2});
  const Case of_taken = random_case(taken, {}, {.tokens = 9, .dk = 3, .dv = 2});
  for (const Form form : all_forms) {
    INFO(name(form));
    CHECK_THROWS_WITH(of_wrong.trace(form, 4)->record(0),
                      says("the rule computes \"beta\" but its input has that name"));
    const auto trace = of_right.trace(form, 4);
    const Record& record = trace->record(0);
    CHECK(record.at("half") == record.at("beta") / 2);
  }
  CHECK(write_strengths(right, of_right.sequence).symbol == "h");
  CHECK_THROWS_WITH(of_taken.trace(Form::recurrent, 1)->record(0), says("\"update\" is recorded twice"));
}

TEST_CASE(
    "every name in a record of a row program or of softmax is an input, its rule's own, or in the table") {
  std::set<std::string_view> unused = taken_names;
  for (const Case& each : all_cases({.tokens = 9, .dk = 3, .dv = 2, .seed = 43})) {
    const auto* rows = dynamic_cast<const RowRule*>(each.variant->rule.get());
    const bool is_softmax = each.variant->id == "softmax" || each.variant->id == "fox";
    if (rows == nullptr && !is_softmax) continue;
    std::set<std::string> known = {"scale", "alpha", "Alpha", "g", "eps"};
    for (const std::string& name : array_names(*each.variant)) {
      INFO(each.words << ": " << name);
      CHECK_FALSE(taken_names.contains(name));
      known.insert({name, capitalised(name)});
    }
    if (rows != nullptr) {
      const Notation own = rows->notation(each.sequence.settings);
      for (const auto& [name, symbol] : own.symbols) known.insert(name);
      for (const ProgramNames& names : {own.token, own.rows})
        known.insert({names.q, names.k, names.v, names.o, names.a, names.k_plain, names.v_plain, names.beta});
      for (const auto* steps : {&own.token_before, &own.token_query, &own.token_after, &own.token_write,
                                &own.rows_before, &own.rows_query, &own.rows_after}) {
        for (const Operation& step : *steps) known.insert(step.equation.result);
      }
    }
    for (const Form form : each.forms()) {
      const auto trace = each.trace(form, 4);
      for (Index block = 0; block < trace->block_count(); ++block) {
        for (const auto& [name, value] : trace->record(block).tensors()) {
          unused.erase(name);
          INFO(each.words << " " << palimpsest::name(form) << ": " << name);
          const auto is_part = [&](std::string_view when) {  // of a state in parts
            return name.size() == when.size() + 1 && name.ends_with(when);
          };
          CHECK((known.contains(name) || taken_names.contains(name) || is_part("_before") ||
                 is_part("_moved") || is_part("_after")));
        }
      }
    }
  }
  CHECK(unused == std::set<std::string_view>{});
}

TEST_CASE("every gate and strength on screen is an input, a parameter or the result of a shown step") {
  // Told by their symbols alone: how the parts of a state mix (U'), the sums before each token, the last of
  // the weights of a batch.
  const std::set<std::string> told = {"transition",  "inject",       "read_sight",
                                      "erase_sight", "log_z_before", "sigma_last"};
  for (const Case& each : all_cases({.tokens = 9, .dk = 3, .dv = 2, .seed = 41})) {
    const std::vector<std::string> taken = array_names(*each.variant);
    for (const Form form : each.forms()) {
      const auto trace = each.trace(form, 4);
      std::set<std::string> known = told;
      for (const std::string& name : taken) known.insert({name, capitalised(name)});
      for (const Phase& phase : trace->phases) {
        for (const Operation& operation : phase.operations) known.insert(operation.equation.result);
        for (const Carry& carry : phase.carries) known.insert(carry.to);
      }
      for (const Phase& phase : trace->phases) {
        for (const Operation& operation : phase.operations) {
          for (const std::string& operand : operands(operation.equation.expression)) {
            const Role role = trace->symbols.at(operand).role;
            if (role != Role::gate && role != Role::strength) continue;
            INFO(each.words << " " << name(form) << ": " << operand << " in " << operation.id);
            // A parameter is the same for all tokens: gamma.
            const bool is_constant = !each.variant->parameters.empty() && operand == "alpha";
            CHECK((is_constant || known.contains(operand)));
          }
        }
      }
    }
  }
}
