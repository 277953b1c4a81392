// Phases: which operations a line takes, and what it shows of them.

#include "core/steps/phase.h"
#include "core/base/error.h"
#include "tests/catch.h"

using namespace palimpsest;
using palimpsest::testing::says;

namespace {

Operation operation(const std::string& id, Equation equation) {
  return {id, Purpose::write, id, id, std::move(equation)};
}

}  // namespace

TEST_CASE("a line takes the operations added since the last line and writes out what it is told to") {
  PhaseBuilder steps("token by token");
  steps.add_all({operation("first", {"a", tensor("x") + tensor("y")}),
                 operation("second", {"b", transpose(tensor("a"))})});
  steps.line("One", "", "b", {"a"});
  steps.add(operation("third", {"c", tensor("a") * tensor("b")}));
  steps.line("Two", "", "c", {"a"}, 2);
  const Phase phase = steps.take();
  CHECK(phase.title == "token by token");
  REQUIRE(phase.operations.size() == 3);
  REQUIRE(phase.lines.size() == 2);
  CHECK(phase.lines[0].operations == std::vector<std::string>{"first", "second"});
  CHECK(phase.lines[1].operations == std::vector<std::string>{"third"});
  CHECK(phase.lines[1].weight == 2);
  CHECK(operands(phase.lines[0].equation.expression) == std::vector<std::string>{"x", "y"});
  CHECK(operands(phase.lines[1].equation.expression) == std::vector<std::string>{"x", "y", "b"});
}

TEST_CASE("a line that shows what nothing has made is refused") {
  PhaseBuilder steps("token by token");
  steps.add(operation("first", {"a", tensor("x")}));
  CHECK_THROWS_WITH(steps.line("One", "", "b"), says("\"One\" shows b, which no operation before it makes"));
}
