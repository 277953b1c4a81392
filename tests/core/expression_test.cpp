#include "core/formula/expression.h"

#include <limits>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/random_expression.h"

using namespace palimpsest;
using palimpsest::testing::says;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Matrix<double> matrix(Index rows, Index columns, std::initializer_list<double> values) {
  Matrix<double> result(rows, columns);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

/// Two keys, three value channels.
Record delta_record() {
  Record record;
  record.set("alpha", matrix(1, 1, {0.5}));
  record.set("beta", matrix(1, 1, {0.25}));
  record.set("S", matrix(2, 3, {1, 2, 3, 4, 5, 6}));
  record.set("k", matrix(2, 1, {1, -2}));
  record.set("v", matrix(3, 1, {1, 0, -1}));
  return record;
}

}  // namespace

TEST_CASE("a record keeps the latest value and names what it lacks") {
  Record record;
  record.set("S", matrix(1, 1, {1}));
  record.set("S", matrix(1, 2, {2, 3}));
  CHECK(record.at("S") == matrix(1, 2, {2, 3}));
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
  CHECK(evaluate(error, delta_record()) == matrix(3, 1, {4.5, 4, 3.5}));
  CHECK(evaluate(after, delta_record()) == matrix(2, 3, {1.625, 2, 2.375, -0.25, 0.5, 1.25}));
}

TEST_CASE("the interpreter repeats rows and columns in an element-wise product") {
  Record record;
  record.set("X", matrix(2, 3, {1, 2, 3, 4, 5, 6}));
  record.set("g", matrix(2, 1, {10, -1}));
  record.set("r", matrix(1, 3, {1, 0, 2}));
  CHECK(evaluate(hadamard(tensor("g"), tensor("X")), record) == matrix(2, 3, {10, 20, 30, -4, -5, -6}));
  CHECK(evaluate(hadamard(tensor("X"), tensor("r")), record) == matrix(2, 3, {1, 0, 6, 4, 0, 12}));
  CHECK(evaluate(hadamard(tensor("X"), tensor("X")), record) == matrix(2, 3, {1, 4, 9, 16, 25, 36}));
}

TEST_CASE("zeros of a diagonal factor never meet an inf or a NaN") {
  Record record;
  record.set("x", matrix(2, 1, {2, 3}));
  record.set("S", matrix(2, 2, {infinity, 1, 1, 1}));
  CHECK(evaluate(diagonal(tensor("x")) * tensor("S"), record) == matrix(2, 2, {infinity, 2, 3, 3}));
  CHECK(evaluate(tensor("S") * diagonal(tensor("x")), record) == matrix(2, 2, {infinity, 3, 2, 3}));
  CHECK(evaluate(diagonal(tensor("x")), record) == matrix(2, 2, {2, 0, 0, 3}));
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
  const Record record = delta_record();
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
  CHECK_THROWS_WITH(evaluate(call("normalise", {Expression(tensor("none")), tensor("alpha")}),
                             [&] {
                               Record empty = record;
                               empty.set("none", Matrix<double>(0, 1));
                               return empty;
                             }()),
                    says("normalise") && says("[0, 1]"));
  CHECK_THROWS_WITH(evaluate(call("softmix", {tensor("S")}), record),
                    says("\"softmix\"") && says("row_softmax"));
}

TEST_CASE("the shape known beforehand is the shape of the value, for random expressions") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    testing::RandomExpressions random(seed);
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
