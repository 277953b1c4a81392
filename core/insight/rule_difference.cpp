#include "core/insight/rule_difference.h"

#include <algorithm>
#include <set>
#include <utility>

namespace palimpsest {

namespace {

/// A tensor in a formula, and what tells two of them apart: its symbol, and the factor that is made of it.
struct Appearance {
  std::string tensor;
  std::string looks;
};

void collect(const Expression& expression, const Symbols& symbols, const std::string& factor,
             std::vector<Appearance>& found) {
  if (expression.kind() == Expression::Kind::tensor) {
    const auto symbol = symbols.find(expression.name());
    const std::string latex = symbol == symbols.end() ? expression.name() : symbol->second.latex;
    found.push_back({expression.name(), factor + latex});
    return;
  }
  std::string made;
  if (expression.kind() == Expression::Kind::diagonal) made = "diagonal ";
  if (expression.kind() == Expression::Kind::function) made = expression.name() + " ";
  for (const Expression& argument : expression.arguments()) collect(argument, symbols, made, found);
}

std::vector<Appearance> appearances(const Line& line, const Symbols& symbols) {
  std::vector<Appearance> found;
  collect(line.equation.expression, symbols, {}, found);
  return found;
}

}  // namespace

const Line* rewriting_line(const Trace& trace) {
  for (const Phase& phase : trace.phases) {
    const auto write = std::ranges::find(phase.operations, Purpose::write, &Operation::purpose);
    if (write == phase.operations.end()) continue;
    for (const Line& line : phase.lines) {
      if (std::ranges::find(line.operations, write->id) != line.operations.end()) return &line;
    }
  }
  return nullptr;
}

std::vector<std::string> lacking(const Line& line, const Symbols& symbols, const Line& other,
                                 const Symbols& other_symbols) {
  std::set<std::string> known;
  for (const Appearance& each : appearances(other, other_symbols)) known.insert(each.looks);
  std::vector<std::string> tensors;
  for (const Appearance& each : appearances(line, symbols)) {
    if (known.contains(each.looks) || std::ranges::find(tensors, each.tensor) != tensors.end()) continue;
    tensors.push_back(each.tensor);
  }
  return tensors;
}

}  // namespace palimpsest
