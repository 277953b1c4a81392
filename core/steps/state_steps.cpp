#include "core/steps/state_steps.h"

#include <algorithm>
#include <vector>

namespace palimpsest {

namespace {

/// The tensors that `expression` adds up, each as it is, turned or times something else.
void collect_addends(const Expression& expression, std::vector<std::string>& names) {
  switch (expression.kind()) {
    case Expression::Kind::tensor:
      names.push_back(expression.name());
      return;
    case Expression::Kind::named:
      names.push_back(expression.name());
      [[fallthrough]];
    case Expression::Kind::transpose:
    case Expression::Kind::sum:
    case Expression::Kind::difference:
      for (const Expression& argument : expression.arguments()) collect_addends(argument, names);
      return;
    default:
      return;
  }
}

}  // namespace

std::set<std::string> state_steps(const Trace& trace) {
  std::vector<std::vector<std::string>> together;
  for (const Phase& phase : trace.phases) {
    for (const Operation& operation : phase.operations) {
      together.push_back({operation.equation.result});
      collect_addends(operation.equation.expression, together.back());
    }
    for (const Carry& carry : phase.carries) together.push_back({carry.from, carry.to});
  }
  const auto has_role = [&](const std::string& name, Role role) {
    const auto symbol = trace.symbols.find(name);
    return symbol != trace.symbols.end() && symbol->second.role == role;
  };
  std::set<std::string> found;
  const auto belongs = [&](const std::string& name) {
    return has_role(name, Role::state) || found.contains(name);
  };
  std::size_t known = 0;
  do {
    known = found.size();
    for (const std::vector<std::string>& names : together) {
      if (std::ranges::none_of(names, belongs)) continue;
      for (const std::string& name : names) {
        if (has_role(name, Role::error)) found.insert(name);
      }
    }
  } while (found.size() > known);
  return found;
}

}  // namespace palimpsest
