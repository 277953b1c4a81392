#include "core/proof/faults.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

/// Rows of a result that belong to one token; 0 where its rows are no tokens. A state has channels for rows,
/// however many, unless it is made row by row.
Index rows_per_token(const Trace& trace, const Block& block, const Operation& operation,
                     const Matrix<double>& result, const Record& record) {
  const Role role = trace.symbols.at(operation.equation.result).role;
  if (role == Role::state && !operation.by_row) return 0;
  const Index steps = record.contains("last_steps") ? record.at("last_steps").cols() / block.count : 1;
  if (result.rows() == block.count) return 1;
  return result.rows() == block.count * steps ? steps : 0;
}

/// Empty where there is but one.
std::string phase_title(const Trace& trace, const Block& block) {
  return trace.phases.size() > 1 ? trace.phase(block).title : "";
}

std::optional<Departure> departure_of(const Trace& trace, Index index, const Operation& operation,
                                      const Matrix<double>& got, const Record& right, double tolerance) {
  const std::string& result = operation.equation.result;
  const Matrix<double>& expected = right.at(result);
  const Disagreement worst = compare(result, got, expected);
  const double apart = std::abs(worst.got - worst.expected);
  if (worst.error <= tolerance || apart <= dust_of(operation.equation.expression, right)) return std::nullopt;
  const Block block = trace.block(index);
  Departure departure{.block = index,
                      .phase = phase_title(trace, block),
                      .operation = operation.id,
                      .title = operation.title,
                      .tensor = result,
                      .token = block.first_token + block.count - 1,
                      .row = worst.row,
                      .column = worst.column,
                      .got = worst.got,
                      .expected = worst.expected};
  const Index rows = rows_per_token(trace, block, operation, expected, right);
  if (rows == 0 || got.rows() != expected.rows() || got.cols() != expected.cols()) return departure;
  departure.rows_per_token = rows;
  const std::vector<double> errors = errors_by_row(result, got, expected);
  const auto off = std::ranges::find_if(errors, [&](double error) { return error > tolerance; });
  const Index row = off - errors.begin();
  departure.token = block.first_token + row / rows;
  departure.row = row;
  const Eigen::ArrayXd distances = (got.row(row) - expected.row(row)).cwiseAbs().transpose();
  distances.isNaN().select(-1.0, distances).maxCoeff(&departure.column);
  departure.got = got(row, departure.column);
  departure.expected = expected(row, departure.column);
  return departure;
}

const Operation* find(const Phase& phase, const std::string& id) {
  return row_called(phase.operations, id, &Operation::id);
}

/// Why a cell of `operation` is what it is; nothing where its formula has no arithmetic for it.
std::optional<Explanation> why(const Phase& phase, const std::string& operation, const Symbols& symbols,
                               const Record& record, const Departure& at) try {
  const Operation* const found = find(phase, operation);
  if (!found) return std::nullopt;
  return explain(found->equation, symbols, record, at.row, at.column);
} catch (const Cancelled&) {
  throw;
} catch (const Error&) {
  return std::nullopt;
}

/// The line's formula again, from the operations as they are now.
void follow_operations(Line& line, const std::vector<Operation>& operations) {
  const std::vector<std::string> inlined = operands(line.equation.expression, Expression::Kind::named);
  std::vector<Equation> equations = made_of(operations, &Operation::equation);
  const Equation* const shown = row_called(equations, line.equation.result, &Equation::result);
  if (shown) line.equation.expression = expand(shown->expression, equations, inlined);
}

/// The smallest pieces that differ, the whole expression with its piece named, and whether only a sign
/// differs.
struct Parting {
  Expression marked;
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
  if (is.kind() == should_be.kind() && is.name() == should_be.name() && a.size() == b.size()) {
    const auto [mine, other] = std::ranges::mismatch(a, b);
    if (mine != a.end() && std::equal(mine + 1, a.end(), other + 1)) {  // the only one
      Parting inner = parting(*mine, *other);
      std::vector<Expression> arguments(a.begin(), a.end());
      entry(arguments, mine - a.begin()) = inner.marked;
      inner.marked = {is.kind(), is.name(), std::move(arguments)};
      return inner;
    }
  }
  const bool is_sign =
      adds(is) && adds(should_be) && is.kind() != should_be.kind() && std::ranges::equal(a, b);
  return {named(changed_piece, is), is, should_be, is_sign};
}

/// The carry that brings an operand of `expression` differently from the right one, if there is one.
const Carry* changed_carry(const Phase& right, const Phase& edited, const Expression& expression) {
  const std::vector<std::string> read = operands(expression);
  for (const Carry& carry : edited.carries)
    if (!is_among(carry, right.carries) && is_among(carry.to, read)) return &carry;
  return nullptr;
}

bool is_changed(const Phase& right, const Operation& operation) {
  const Operation* const should_be = find(right, operation.id);
  return !should_be || !(should_be->equation.expression == operation.equation.expression);
}

}  // namespace

std::string to_string(const Departure& at) {
  const std::string phase = at.phase.empty() ? "" : fmt::format(" ({})", at.phase);
  return fmt::format("token {}, block {}{}, operation {} ({}): {}[{}, {}] is {:.9g}, expected {:.9g}",
                     at.token, at.block, phase, at.operation, at.title, at.tensor, at.row, at.column, at.got,
                     at.expected);
}

std::optional<Departure> departure_from(const Trace& right, const Trace& trace, double tolerance,
                                        std::stop_token stop) {
  for (Index index = 0; index < trace.block_count(); ++index) {
    const auto should_be = right.shared_record(index, stop);
    const auto record = trace.shared_record(index, stop);
    for (const Operation& operation : trace.phase(trace.block(index)).operations) {
      const std::string& result = operation.equation.result;
      if (!record->contains(result)) continue;
      if (auto departure = departure_of(trace, index, operation, record->at(result), *should_be, tolerance))
        return departure;
    }
  }
  return std::nullopt;
}

Comparison compare_steps(Trace& trace, const Equations& equations, double tolerance, std::stop_token stop) {
  Comparison comparison;
  const auto phase_of = [&](Index index) -> const Phase& {
    return entry(equations.phases, trace.block(index).phase);
  };
  const auto compare_up_to = [&](std::string_view end, Index index, const Record& record) {
    if (comparison.departure) return;
    for (const Operation& operation : phase_of(index).operations) {
      if (operation.id == end) return;
      comparison.departure = departure_of(trace, index, operation, record.at(operation.equation.result),
                                          trace.record(index), tolerance);
      if (comparison.departure) return;
    }
  };
  const auto visit = [&](Index index, const Record& record) { compare_up_to("", index, record); };
  try {
    comparison.output = interpret(trace, equations.phases, {.visit = visit, .stop = std::move(stop)});
  } catch (const StepError& error) {
    comparison.message = error.what();
    compare_up_to(error.operation, error.block, error.made);
    if (comparison.departure) return comparison;
    const Operation* const operation = find(phase_of(error.block), error.operation);
    comparison.departure = {.block = error.block,
                            .phase = phase_title(trace, trace.block(error.block)),
                            .operation = error.operation,
                            .title = operation->title,
                            .tensor = operation->equation.result,
                            .token = trace.block(error.block).first_token};
  }
  return comparison;
}

WrongTensor wrong_tensor(const Trace& right, const Trace& trace, const Departure& departure,
                         std::stop_token stop) {
  const Block block = right.block(departure.block);
  const Phase& right_phase = right.phase(block);
  const Phase& phase = trace.phase(block);
  const std::string changed_in = changed_operation(right_phase, phase, departure.operation);
  WrongTensor wrong{.departure = departure,
                    .change = formula_change(right_phase, phase, changed_in),
                    .first_token = block.first_token,
                    .tokens = block.count};
  const auto right_record = right.shared_record(departure.block, stop);
  if (right_record->contains(departure.tensor)) wrong.should_be = right_record->at(departure.tensor);
  if (const Operation* const operation = find(right_phase, departure.operation))
    wrong.dust = dust_of(operation->equation.expression, *right_record);
  wrong.why_should_be = why(right_phase, departure.operation, right.symbols, *right_record, departure);
  try {
    const auto record = trace.shared_record(departure.block, stop);
    wrong.is = record->at(departure.tensor);
    wrong.why_is = why(phase, departure.operation, trace.symbols, *record, departure);
  } catch (const StepError& error) {
    if (error.made.contains(departure.tensor)) wrong.is = error.made.at(departure.tensor);
  }
  return wrong;
}

std::optional<FaultRun> run_with(const Fault& fault, Trace& trace,
                                 const std::function<Judgement(const Output&)>& judge, std::stop_token stop) {
  const std::optional<Equations> faulty = with_fault(fault, {trace.phases, trace.symbols});
  if (!faulty) return std::nullopt;
  FaultRun run{compare_steps(trace, *faulty, step_tolerance, stop)};
  if (!run.message.empty()) return run;
  run.judgement = judge(run.output);
  if (run.departure && run.judgement.passed()) {
    // Where rounding is amplified, the right equations depart from the engine as well.
    const Comparison right = compare_steps(trace, {trace.phases, trace.symbols}, step_tolerance, stop);
    if (right.departure && compare(run.output, right.output).error == 0) run.departure = {};
  }
  return run;
}

void EquationEditor::replace(const std::vector<Purpose>& purposes, const Replacement& replacement) {
  for (Phase& phase : equations_.phases) {
    for (Operation& operation : phase.operations) {
      const bool is_meant = purposes.empty() || is_among(operation.purpose, purposes);
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
      return is_among(made, operands(other.equation.expression));
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
  const bool is_tensor = x.kind() == Expression::Kind::tensor;
  const Symbol* const symbol = is_tensor ? value_at(equations_.symbols, x.name()) : nullptr;
  return symbol && symbol->role == role;
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
    return is_among(purpose, phase.operations, &Operation::purpose);
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

std::function<void(EquationEditor&)> replacing(std::vector<Purpose> purposes, Replacement replacement) {
  return [=](EquationEditor& equations) { equations.replace(purposes, replacement); };
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
    change.is.expression = parts.marked;
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
