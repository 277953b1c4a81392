#include "core/steps/turned.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/core/cases.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// One step from what the engine recorded: sums of a few products, in any order.
constexpr double rounding = 1e-12;

/// The largest difference as a share of the largest number; what is masked is the same in both.
double difference(const Matrix<double>& a, const Matrix<double>& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  double largest = 0;
  double scale = 1;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      if (a(i, j) == b(i, j)) continue;
      largest = std::max(largest, std::abs(a(i, j) - b(i, j)));
      scale = std::max(scale, std::abs(b(i, j)));
    }
  }
  return largest / scale;
}

/// How many turned states `expression` still reads the other way round.
int turned_back(const Expression& expression, const Symbols& symbols, const Record& record) {
  const bool is_transpose = expression.kind() == Expression::Kind::transpose;
  int count = is_transpose && turns(expression.arguments()[0].name(), symbols, record) ? 1 : 0;
  for (const Expression& argument : expression.arguments()) count += turned_back(argument, symbols, record);
  return count;
}

}  // namespace

TEST_CASE("turned equations give the turned states from turned operands, in shapes that fit", "[turned]") {
  int turned_results = 0;
  for (const Case& each : all_cases({.tokens = 9, .dk = 4, .dv = 3, .seed = 31})) {
    for (const Form form : each.forms()) {
      const auto trace = each.trace(form, 4);
      for (Index index = 0; index < trace->block_count(); ++index) {
        const Record record = trace->record(index);
        const Phase& phase = trace->phase(trace->block(index));
        const Record operands = turned(record, trace->symbols);
        const Phase steps = turned(phase, trace->symbols, record);
        const auto check = [&](const Equation& plain, const Equation& equation) {
          INFO(each.words << " " << name(form) << " block " << index << ": " << plain.result << " = "
                          << to_string(plain.expression) << " became " << to_string(equation.expression));
          REQUIRE(plain.result == equation.result);
          const Matrix<double>& recorded = record.at(plain.result);
          const bool is_turned = turns(plain.result, trace->symbols, record);
          const Matrix<double> expected = is_turned ? Matrix<double>(recorded.transpose()) : recorded;
          CHECK(operands.at(plain.result) == expected);
          CHECK(difference(evaluate(equation.expression, operands), expected) <= rounding);
          turned_results += is_turned ? 1 : 0;
        };
        REQUIRE(steps.operations.size() == phase.operations.size());
        REQUIRE(steps.lines.size() == phase.lines.size());
        for (std::size_t i = 0; i < phase.operations.size(); ++i)
          check(phase.operations[i].equation, steps.operations[i].equation);
        for (std::size_t i = 0; i < phase.lines.size(); ++i)
          check(phase.lines[i].equation, steps.lines[i].equation);
      }
    }
  }
  CHECK(turned_results > 1000);
}

TEST_CASE("turned equations are those of the papers that write states value x key", "[turned]") {
  const Case each = random_case(find_variant("gated_deltanet"), {}, {.tokens = 3, .dk = 4, .dv = 3});
  const auto trace = each.trace(Form::recurrent, 1);
  const Record& record = trace->record(1);
  const Phase steps = turned(trace->phases[0], trace->symbols, record);
  const auto written = [&](const std::string& id) {
    const auto found = std::ranges::find(steps.operations, id, &Operation::id);
    REQUIRE(found != steps.operations.end());
    return to_string(found->equation.expression);
  };
  CHECK(written("decay") == "(alpha * S_before)");
  CHECK(written("read") == "(S_decayed * k)");
  CHECK(written("update") == "((beta * error) * k^T)");
  CHECK(written("write") == "(S_decayed + update)");
  CHECK(written("output") == "(S_after * q)");
  for (const Line& line : steps.lines)
    CHECK(turned_back(line.equation.expression, trace->symbols, record) == 0);
}

TEST_CASE("what is no matrix of keys and values does not turn", "[turned]") {
  const Symbols symbols = {{"S", {"S", Role::state, "a state"}},
                           {"b", {"b", Role::state, "a bias"}},
                           {"B", {"B", Role::state, "one row per token", false}},
                           {"G", {"G", Role::error, "a gradient"}}};
  Record record;
  for (const char* name : {"S", "B", "G"}) record.set(name, Matrix<double>::Random(4, 3));
  record.set("b", Matrix<double>::Random(3, 1));
  const Record other = turned(record, symbols);
  CHECK(other.at("S") == Matrix<double>(record.at("S").transpose()));
  for (const char* name : {"b", "B", "G"}) CHECK(other.at(name) == record.at(name));
  CHECK_FALSE(turns("nothing", symbols, record));
  // A gradient beside a turned state is turned where it is read; a function takes its state back.
  const Equation step = turned({"S", tensor("S") + tensor("G")}, symbols, record);
  CHECK(to_string(step.expression) == "(S + G^T)");
  const Equation mixed = turned({"G", call("negative", {tensor("S")})}, symbols, record);
  CHECK(to_string(mixed.expression) == "negative(S^T)");
}
