#include "core/proof/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formula/expression.h"

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

const Operation* find(const Phase& phase, const std::string& id) {
  const auto found = std::ranges::find(phase.operations, id, &Operation::id);
  return found == phase.operations.end() ? nullptr : &*found;
}

/// The smallest pieces that differ, the way to them from the root, and whether they differ in a sign alone.
struct Parting {
  std::vector<std::size_t> path = {};
  Expression is;
  Expression should_be;
  bool is_sign = false;
};

bool adds(const Expression& x) {
  return x.kind() == Expression::Kind::sum || x.kind() == Expression::Kind::difference;
}

Parting parting(const Expression& is, const Expression& should_be) {
  const auto a = is.arguments();
  const auto b = should_be.arguments();
  if (adds(is) && adds(should_be) && is.kind() != should_be.kind() && std::ranges::equal(a, b))
    return {{}, is, should_be, true};
  if (is.kind() == should_be.kind() && is.name() == should_be.name() && a.size() == b.size()) {
    std::vector<std::size_t> different;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) different.push_back(i);
    }
    if (different.size() == 1) {
      Parting inner = parting(a[different.front()], b[different.front()]);
      inner.path.insert(inner.path.begin(), different.front());
      return inner;
    }
  }
  return {{}, is, should_be, false};
}

/// `x` with the piece at the end of `path` named.
Expression marked(const Expression& x, const std::vector<std::size_t>& path, std::size_t depth = 0) {
  if (depth == path.size()) return named(changed_piece, x);
  std::optional<std::size_t> argument;  // of x; x itself comes first
  return replaced(x, [&](const Expression& piece) -> std::optional<Expression> {
    const bool is_whole = !argument;
    argument = is_whole ? 0 : *argument + 1;
    if (is_whole) return std::nullopt;
    return *argument - 1 == path[depth] ? marked(piece, path, depth + 1) : piece;
  });
}

/// The carry that brings an operand of `expression` another way than it should, if there is one.
const Carry* changed_carry(const Phase& right, const Phase& edited, const Expression& expression) {
  const std::vector<std::string> read = operands(expression);
  for (const Carry& carry : edited.carries) {
    const bool is_right = std::ranges::find(right.carries, carry) != right.carries.end();
    if (!is_right && std::ranges::find(read, carry.to) != read.end()) return &carry;
  }
  return nullptr;
}

bool is_changed(const Phase& right, const Operation& operation) {
  const Operation* const should_be = find(right, operation.id);
  return !should_be || !(should_be->equation.expression == operation.equation.expression);
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

Replacement renamed(std::string function, std::string other) {
  return [=](const Expression& x) -> std::optional<Expression> {
    if (!is_call(x, function)) return std::nullopt;
    return call(other, {x.arguments().begin(), x.arguments().end()});
  };
}

EditedTrace::EditedTrace(std::shared_ptr<const Trace> right, Equations equations) : right_(std::move(right)) {
  form = right_->form;
  tokens = right_->tokens;
  groups = right_->groups;
  phases = std::move(equations.phases);
  symbols = std::move(equations.symbols);
  spacing_ = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(right_->block_count()))));
}

Output EditedTrace::run(std::stop_token stop) const {
  return interpret(*right_, phases, {.stop = std::move(stop)});
}

Record EditedTrace::compute(Index index) const {
  const auto after = kept_.upper_bound(index);
  const bool goes_on = running_ && running_->next() <= index &&
                       (after == kept_.begin() || std::prev(after)->first <= running_->next());
  if (!goes_on) {
    if (after == kept_.begin())
      running_.emplace(*right_, phases);
    else
      running_ = std::prev(after)->second;
  }
  const Interpreting how{.stop = stop()};
  Record record;
  while (running_->next() <= index) {
    if (running_->next() % spacing_ == 0) kept_.try_emplace(running_->next(), *running_);
    record = running_->step(how);
  }
  return record;
}

FormulaChange formula_change(const Phase& right, const Phase& edited, const std::string& id) {
  const Operation* const is = find(edited, id);
  if (!is) throw Error(fmt::format("the edited equations have no operation \"{}\"", id));
  FormulaChange change{.is = is->equation};
  const Operation* const should_be = find(right, id);
  const Expression& expression = is->equation.expression;
  if (should_be && !(should_be->equation.expression == expression)) {
    const Parting parts = parting(expression, should_be->equation.expression);
    change.is.expression = marked(expression, parts.path);
    change.is_sign = parts.is_sign;
    change.piece = parts.is;
    change.should_be = parts.should_be;
  } else if (const Carry* const carry = changed_carry(right, edited, expression)) {
    const Expression operand = tensor(carry->to);
    change.is.expression = replaced(expression, [&](const Expression& x) -> std::optional<Expression> {
      if (x.kind() != Expression::Kind::tensor || x.name() != carry->to) return std::nullopt;
      return named(changed_piece, x);
    });
    change.piece = operand;
    change.carried =
        carry->starts_empty ? "starts as 0, whatever was given" : "comes from another step than it should";
  }
  return change;
}

std::string changed_operation(const Phase& right, const Phase& edited, const std::string& id) {
  const Operation* const named = find(edited, id);
  if (named && (is_changed(right, *named) || changed_carry(right, edited, named->equation.expression)))
    return id;
  const auto first = std::ranges::find_if(edited.operations, [&](const Operation& operation) {
    return is_changed(right, operation) && find(right, operation.id);
  });
  return first == edited.operations.end() ? id : first->id;
}

}  // namespace palimpsest
