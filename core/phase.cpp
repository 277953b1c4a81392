#include "core/phase.h"

namespace palimpsest {

Phase make_phase(std::string title, std::vector<Operation> operations, const std::vector<ShownLine>& shown,
                 std::vector<Carry> carries) {
  Phase phase{.title = std::move(title), .operations = std::move(operations), .carries = std::move(carries)};
  std::vector<Equation> equations;
  for (const Operation& operation : phase.operations) equations.push_back(operation.equation);
  std::size_t taken = 0;
  for (const ShownLine& line : shown) {
    Line made{line.title, line.sentence, {line.result, tensor(line.result)}, {}, line.weight};
    while (taken < phase.operations.size()) {
      const Operation& operation = phase.operations[taken++];
      made.operations.push_back(operation.id);
      if (operation.equation.result == line.result) {
        made.equation.expression = expand(operation.equation.expression, equations, line.inlined);
        break;
      }
    }
    phase.lines.push_back(std::move(made));
  }
  return phase;
}

}  // namespace palimpsest
