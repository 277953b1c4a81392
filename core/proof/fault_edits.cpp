#include "core/proof/fault_edits.h"

#include <algorithm>
#include <utility>

namespace palimpsest {

namespace {

/// The results that a line writes out as their definitions.
void collect_inlined(const Expression& expression, std::vector<std::string>& names) {
  if (expression.kind() == Expression::Kind::named) names.push_back(expression.name());
  for (const Expression& argument : expression.arguments()) collect_inlined(argument, names);
}

/// The line's formula again, from the operations as they are now.
void follow_operations(Line& line, const std::vector<Operation>& operations) {
  std::vector<std::string> inlined;
  collect_inlined(line.equation.expression, inlined);
  std::vector<Equation> equations;
  for (const Operation& operation : operations) equations.push_back(operation.equation);
  const auto shown = std::ranges::find(equations, line.equation.result, &Equation::result);
  if (shown != equations.end()) line.equation.expression = expand(shown->expression, equations, inlined);
}

}  // namespace

void EquationEditor::replace(std::initializer_list<Purpose> purposes, const Replacement& replacement) {
  for (Phase& phase : equations_.phases) {
    for (Operation& operation : phase.operations) {
      const bool is_meant =
          purposes.size() == 0 || std::ranges::find(purposes, operation.purpose) != purposes.end();
      if (is_meant) operation.equation.expression = replaced(operation.equation.expression, replacement);
    }
  }
}

void EquationEditor::carries(const std::function<void(std::vector<Carry>&)>& edit) {
  for (Phase& phase : equations_.phases) edit(phase.carries);
}

void EquationEditor::insert(const Operation& operation, const Symbol& symbol) {
  const std::string& made = operation.equation.result;
  for (Phase& phase : equations_.phases) {
    const auto reader = std::ranges::find_if(phase.operations, [&](const Operation& other) {
      const std::vector<std::string> read = operands(other.equation.expression);
      return std::ranges::find(read, made) != read.end();
    });
    if (reader == phase.operations.end()) continue;
    for (Line& line : phase.lines) {
      const auto shown = std::ranges::find(line.operations, reader->id);
      if (shown != line.operations.end()) line.operations.insert(shown, operation.id);
    }
    phase.operations.insert(reader, operation);
    equations_.symbols[made] = symbol;
  }
}

bool EquationEditor::is(const Expression& x, Role role) const {
  if (x.kind() != Expression::Kind::tensor) return false;
  const auto symbol = equations_.symbols.find(x.name());
  return symbol != equations_.symbols.end() && symbol->second.role == role;
}

Expression EquationEditor::one_block_late(const std::string& name) {
  const std::string late = name + "_late";
  if (late_.insert(name).second) {
    Symbol symbol = equations_.symbols[name];
    symbol.latex = "{" + symbol.latex + "}^{\\mathrm{late}}";
    symbol.words += ", one step too early";
    equations_.symbols[late] = std::move(symbol);
    for (Phase& phase : equations_.phases)
      phase.carries.push_back({.from = name, .to = late, .starts_empty = true});
  }
  return tensor(late);
}

bool EquationEditor::has(Purpose purpose) const {
  return std::ranges::any_of(equations_.phases, [&](const Phase& phase) {
    return std::ranges::find(phase.operations, purpose, &Operation::purpose) != phase.operations.end();
  });
}

Equations EquationEditor::take() {
  for (Phase& phase : equations_.phases) {
    for (Line& line : phase.lines) follow_operations(line, phase.operations);
  }
  return std::move(equations_);
}

bool is_call(const Expression& x, std::string_view function) {
  return x.kind() == Expression::Kind::function && x.name() == function;
}

}  // namespace palimpsest
