#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// Two keys, three value channels.
Record delta_record() {
  Record record;
  record.set("alpha", Matrix<double>{{0.5}});
  record.set("beta", Matrix<double>{{0.25}});
  record.set("S", Matrix<double>{{1, 2, 3}, {4, 5, 6}});
  record.set("k", Matrix<double>{{1}, {-2}});
  record.set("v", Matrix<double>{{1}, {0}, {-1}});
  return record;
}

}  // namespace

TEST_CASE("a record keeps the latest value and names what it lacks") {
  Record record;
  record.set("S", Matrix<double>{{1}});
  record.set("S", Matrix<double>{{2, 3}});
  CHECK(record.at("S") == Matrix<double>{{2, 3}});
  CHECK(record.contains("S"));
  CHECK_FALSE(record.contains("U"));
  CHECK_THROWS_AS(record.at("U"), Error);
  CHECK_THROWS_WITH(record.at("U"), says("\"U\"") && says("S"));
}

TEST_CASE("operands are listed once, in order of appearance, also inside named parts") {
  const Expression x =
      named("bar", tensor("a") * tensor("S")) + call("lower", {tensor("P")}) - transpose(tensor("S"));
  CHECK(operands(x) == std::vector<std::string>{"a", "S", "P"});
}

TEST_CASE("expand puts definitions in place of their results") {
  const std::vector<Equation> definitions = {{"bar", tensor("alpha") * tensor("S")},
                                             {"old", transpose(tensor("bar")) * tensor("k")},
                                             {"error", tensor("v") - tensor("old")}};
  const std::vector<std::string> error_and_old = {"error", "old"};
  const Expression part = expand(tensor("k") * transpose(tensor("error")), definitions, error_and_old);
  CHECK(operands(part) == std::vector<std::string>{"k", "v", "bar"});
  const Expression& error = part.arguments()[1].arguments()[0];
  CHECK(error.kind() == Expression::Kind::named);
  CHECK(error.name() == "error");

  const std::vector<std::string> all = {"error", "old", "bar"};
  CHECK(operands(expand(named("x", call("lower", {tensor("error")})), definitions, all)) ==
        std::vector<std::string>{"v", "alpha", "S", "k"});
}

TEST_CASE("expand changes no value") {
  const std::vector<Equation> definitions = {{"bar", tensor("alpha") * tensor("S")},
                                             {"error", tensor("v") - transpose(tensor("bar")) * tensor("k")}};
  const Expression after = tensor("bar") + tensor("beta") * tensor("k") * transpose(tensor("error"));
  Record record = delta_record();
  const std::vector<std::string> all = {"bar", "error"};
  const Matrix<double> expanded = evaluate(expand(after, definitions, all), record);
  for (const Equation& each : definitions) record.set(each.result, evaluate(each.expression, record));
  CHECK(expanded == evaluate(after, record));
}

TEST_CASE("a definition that reads its own result is an error") {
  const std::vector<Equation> definitions = {{"a", tensor("b")}, {"b", tensor("a")}};
  const std::vector<std::string> both = {"a", "b"};
  CHECK_THROWS_WITH(expand(tensor("a"), definitions, both), says("\"a\""));
}

TEST_CASE("the interpreter computes the delta rule") {
  const Expression bar = tensor("alpha") * tensor("S");
  const Expression error = tensor("v") - transpose(named("bar", bar)) * tensor("k");
  const Expression after = bar + tensor("beta") * tensor("k") * transpose(error);
  // bar = [.5 1 1.5; 2 2.5 3], bar^T k = [-3.5 -4 -4.5], error = [4.5 4 3.5]
  CHECK(evaluate(error, delta_record()) == Matrix<double>{{4.5}, {4}, {3.5}});
  CHECK(evaluate(after, delta_record()) == Matrix<double>{{1.625, 2, 2.375}, {-0.25, 0.5, 1.25}});
}

TEST_CASE("the interpreter repeats rows and columns in an element-wise product") {
  Record record;
  record.set("X", Matrix<double>{{1, 2, 3}, {4, 5, 6}});
  record.set("g", Matrix<double>{{10}, {-1}});
  record.set("r", Matrix<double>{{1, 0, 2}});
  CHECK(evaluate(hadamard(tensor("g"), tensor("X")), record) == Matrix<double>{{10, 20, 30}, {-4, -5, -6}});
  CHECK(evaluate(hadamard(tensor("X"), tensor("r")), record) == Matrix<double>{{1, 0, 6}, {4, 0, 12}});
  CHECK(evaluate(hadamard(tensor("X"), tensor("X")), record) == Matrix<double>{{1, 4, 9}, {16, 25, 36}});
}

TEST_CASE("zeros of a diagonal factor never meet an inf or a NaN") {
  Record record;
  record.set("x", Matrix<double>{{2}, {3}});
  record.set("S", Matrix<double>{{infinity, 1}, {1, 1}});
  CHECK(evaluate(diagonal(tensor("x")) * tensor("S"), record) == Matrix<double>{{infinity, 2}, {3, 3}});
  CHECK(evaluate(tensor("S") * diagonal(tensor("x")), record) == Matrix<double>{{infinity, 3}, {2, 3}});
  CHECK(evaluate(diagonal(tensor("x")), record) == Matrix<double>{{2, 0}, {0, 3}});
}

TEST_CASE("a product over nothing is zero, and a matrix without rows is fine") {
  Record record;
  record.set("X", Matrix<double>(2, 0));
  record.set("Y", Matrix<double>(0, 3));
  record.set("g", Matrix<double>(0, 1));
  CHECK(evaluate(tensor("X") * tensor("Y"), record) == Matrix<double>::Zero(2, 3));
  for (const Expression& x :
       {hadamard(tensor("g"), tensor("Y")), tensor("Y") + tensor("Y"),
        transpose(tensor("X")) * tensor("X") * tensor("Y"), diagonal(tensor("g")) * tensor("Y")}) {
    const Matrix<double> value = evaluate(x, record);
    CHECK(value.rows() == 0);
    CHECK(value.cols() == 3);
  }
}

TEST_CASE("errors name the tensor, the operation and both shapes") {
  Record record = delta_record();
  record.set("none", Matrix<double>(0, 1));
  CHECK_THROWS_WITH(evaluate(tensor("alpha") * tensor("Q"), record), says("\"Q\""));
  CHECK_THROWS_WITH(shape(tensor("alpha") * tensor("Q"), record), says("\"Q\""));
  CHECK_THROWS_WITH(evaluate(tensor("S") * tensor("k"), record),
                    says("product") && says("S [2, 3]") && says("k [2, 1]"));
  CHECK_THROWS_WITH(evaluate(tensor("v") + tensor("k"), record),
                    says("sum") && says("v [3, 1]") && says("k [2, 1]"));
  CHECK_THROWS_WITH(evaluate(tensor("v") - transpose(tensor("v")), record),
                    says("difference") && says("v^T [1, 3]"));
  CHECK_THROWS_WITH(evaluate(hadamard(tensor("S"), tensor("v")), record),
                    says("element-wise") && says("S [2, 3]") && says("v [3, 1]"));
  CHECK_THROWS_WITH(shape(diagonal(tensor("S")), record), says("Diag") && says("S [2, 3]"));
  CHECK_THROWS_WITH(evaluate(call("decay_mask", {tensor("S")}), record),
                    says("decay_mask") && says("[L, 1]") && says("[2, 3]"));
  CHECK_THROWS_WITH(evaluate(call("maximum", {tensor("S"), tensor("v")}), record),
                    says("maximum") && says("[2, 3], [3, 1]"));
  CHECK_THROWS_WITH(evaluate(call("maximum", {tensor("S")}), record), says("maximum"));
  CHECK_THROWS_WITH(evaluate(call("normalise", {tensor("none"), tensor("alpha")}), record),
                    says("normalise") && says("[0, 1]"));
  CHECK_THROWS_WITH(evaluate(call("softmix", {tensor("S")}), record),
                    says("\"softmix\"") && says("row_softmax"));
}

TEST_CASE("the shape known beforehand is the shape of the value, for random expressions") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomExpressions random(seed);
    const Index rows = random.upto(7);
    const Index columns = random.upto(7);
    const Expression x = random.grow(rows, columns, 3);
    INFO(to_string(x));
    const Shape expected = shape(x, random.record);
    const Matrix<double> value = evaluate(x, random.record);
    REQUIRE(expected.rows == rows);
    REQUIRE(expected.columns == columns);
    REQUIRE(value.rows() == rows);
    REQUIRE(value.cols() == columns);
  }
}

// The equations on the screen are a complete program: carried out one after the other, with nothing but the
// sequence's rows and what the form starts from, they give what the engine gives.

namespace {

/// f64 against f64 after at most 65 tokens: rounding alone.
constexpr double rounding_of_equations = 1e-10;

/// Cases of several chunks of 4 tokens and a short one.
std::vector<Case> chunked_cases(Index dk = 3) {
  return all_cases({.tokens = 17, .dk = dk, .dv = 5, .seed = 31});
}

/// `value` with 8 bits behind the point of its binary notation, as bf16 keeps them.
Matrix<double> coarse(const Matrix<double>& value) {
  return value.unaryExpr([](double x) {
    if (!std::isfinite(x)) return x;
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, 8)), exponent - 8);
  });
}

}  // namespace

TEST_CASE("the equations alone give what the engine gives") {
  for (const auto& [tokens, dk, dv, chunk_size] : std::vector<std::array<Index, 4>>{
           {1, 3, 5, 1}, {2, 5, 3, 1}, {17, 3, 5, 4}, {65, 5, 3, 16}, {17, 4, 4, 64}}) {
    CAPTURE(chunk_size);
    const RandomCase random{.tokens = tokens, .dk = dk, .dv = dv, .seed = 31};
    in_every_form(all_cases(random), [chunk = chunk_size](const Case& each, Form form) {
      const auto trace = each.trace(form, chunk);
      const Disagreement worst = compare(interpret(*trace), each.run(form, Precision::f64, chunk));
      INFO(words(worst));
      CHECK(worst.error <= each.allowed(rounding_of_equations));
    });
  }
}

TEST_CASE("every block of the equations is a block of the engine") {
  in_every_form(chunked_cases(), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, 4);
    Index blocks = 0;
    interpret(*trace, {.visit = [&](Index index, const Record& record) {
      CHECK(index == blocks++);
      const Record& recorded = trace->record(index);
      for (const auto& [tensor, value] : record.tensors()) {
        INFO("block " << index << " " << tensor);
        CHECK(compare(tensor, value, recorded.at(tensor)).error <= each.allowed(rounding_of_equations));
      }
      for (const Operation& operation : trace->phase(trace->block(index)).operations)
        CHECK(record.contains(operation.equation.result));
    }});
    CHECK(blocks == trace->block_count());
  });
}

TEST_CASE("what a form takes from the record is a row of the sequence, a constant or where it starts") {
  in_every_form(chunked_cases(), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, 4);
    std::set<std::string> brought;
    for (const Phase& phase : trace->phases) {
      for (const Carry& carry : phase.carries) brought.insert(carry.to);
    }
    for (Index index = 0; index < trace->block_count(); ++index) {
      const Block block = trace->block(index);
      const Phase& phase = trace->phase(block);
      INFO("block " << index);
      // What starts anew inside the sequence starts from nothing: no sums, and no score at all.
      for (const Carry& carry : phase.carries) {
        if (carry.when != Carry::When::going_on || !block.starts_anew || index == 0) continue;
        const bool starts_otherwise = std::ranges::any_of(phase.carries, [&](const Carry& other) {
          return other.to == carry.to && other.when == Carry::When::starting_anew;
        });
        if (starts_otherwise || !trace->record(index).contains(carry.to)) continue;
        const Matrix<double>& start = trace->record(index).at(carry.to);
        INFO(carry.to);
        CHECK(((start.array() == 0).all() || (start.array() == -infinity).all()));
      }
      // No state comes back in by another way.
      std::set<std::string> made;
      for (const Operation& operation : phase.operations) made.insert(operation.equation.result);
      for (const Operation& operation : phase.operations) {
        for (const std::string& operand : operands(operation.equation.expression)) {
          if (made.contains(operand) || brought.contains(operand)) continue;
          INFO(operand);
          CHECK(trace->symbols.at(operand).role != Role::state);
          CHECK(trace->symbols.at(operand).role != Role::error);
          CHECK(trace->symbols.at(operand).role != Role::output);
          // Nor what another phase makes.
          for (const Phase& other : trace->phases)
            CHECK_FALSE(is_among(operand, other.operations,
                                 [](const Operation& maker) { return maker.equation.result; }));
        }
      }
    }
  });
}

TEST_CASE("every result is read, carried on or given out") {
  in_every_form(chunked_cases(), [&](const Case& each, Form form) {
    const auto trace = each.trace(form, 4);
    for (const Phase& phase : trace->phases) {
      std::set<std::string> needed = {"o", "O"};
      for (const Phase& other : trace->phases) {
        for (const Carry& carry : other.carries) needed.insert(carry.from);
      }
      for (const Operation& operation : phase.operations) {
        for (const std::string& operand : operands(operation.equation.expression)) needed.insert(operand);
      }
      for (const Operation& operation : phase.operations) {
        if (is_among(operation.id, {"check", "spectra"})) continue;  // a proof, a chart: there to be seen
        INFO(operation.id);
        CHECK(needed.contains(operation.equation.result));
      }
    }
  });
}

TEST_CASE("a carry that is left out, and an equation that reads too early, are noticed") {
  const Case each = random_case("gated_deltanet", {.tokens = 17, .dk = 3, .dv = 5, .initial_state = true});
  for (const Form form : {Form::recurrent, Form::chunkwise}) {
    const auto trace = each.trace(form, 4);
    const Output expected = each.run(form, Precision::f64, 4);
    std::vector<Phase> empty = trace->phases;
    empty[0].carries[0].starts_empty = true;
    CHECK(compare(interpret(*trace, empty), expected).error > 1e-3);

    std::vector<Phase> swapped = trace->phases;
    std::swap(swapped[0].operations.front(), swapped[0].operations.back());
    CHECK_THROWS_WITH(interpret(*trace, swapped), says("is not made yet"));
  }
}

TEST_CASE("a rounding of every result shows, and stays of its own size") {
  in_every_form(chunked_cases(6), [&](const Case& each, Form form) {
    if (each.allowed(1) > 1) return;  // Newton and Schulz amplify it
    const auto trace = each.trace(form, 4);
    Index coarse_results = 0;
    const Output rounded =
        interpret(*trace, {.rounded = coarse, .visit = [&](Index index, const Record& record) {
                             for (const Operation& operation : trace->phase(trace->block(index)).operations) {
                               const Matrix<double>& value = record.at(operation.equation.result);
                               coarse_results += value == coarse(value) || !value.allFinite() ? 0 : 1;
                             }
                           }});
    CHECK(coarse_results == 0);
    const double error = compare(rounded, each.run(form, Precision::f64, 4)).error;
    CHECK(error > 0);
    CHECK(error < 0.5);
  });
}

TEST_CASE("the equations of an empty sequence give no rows, and interpreting can be stopped") {
  const Case empty = random_case("kda", {.tokens = 0});
  const Output none = interpret(*empty.trace(Form::recurrent, 1));
  CHECK(none.o.rows() == 0);
  CHECK(none.states.empty());

  const Case some = random_case("kda", {.tokens = 2});
  CHECK_THROWS_AS(interpret(*some.trace(Form::recurrent, 1), {.stop = stopped()}), Cancelled);
}
