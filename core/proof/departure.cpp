#include "core/proof/departure.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/steps/interpreted.h"

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

/// Where the result of `operation` is off, if it is.
std::optional<Departure> departure_of(const Trace& trace, Index index, const Operation& operation,
                                      const Matrix<double>& got, const Record& right, double tolerance) {
  const std::string& result = operation.equation.result;
  const Matrix<double>& expected = right.at(result);
  const Disagreement worst = compare(result, got, expected);
  if (worst.error <= tolerance) return std::nullopt;
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
  departure.column = 0;
  double furthest = -1;
  for (Index column = 0; column < got.cols(); ++column) {
    const double apart = std::abs(got(row, column) - expected(row, column));
    if (!(apart > furthest)) continue;
    furthest = apart;
    departure.column = column;
  }
  departure.got = got(row, departure.column);
  departure.expected = expected(row, departure.column);
  return departure;
}

/// Why a cell of `operation` is what it is; nothing where its formula has no arithmetic for it.
std::optional<Explanation> why(const Phase& phase, const std::string& operation, const Symbols& symbols,
                               const Record& record, const Departure& at) try {
  const auto found = std::ranges::find(phase.operations, operation, &Operation::id);
  if (found == phase.operations.end()) return std::nullopt;
  return explain(found->equation, symbols, record, at.row, at.column);
} catch (const Cancelled&) {
  throw;
} catch (const Error&) {
  return std::nullopt;
}

/// Whether equations with a fault in them give just what the right ones give, which are off themselves.
bool is_no_change(Trace& trace, const Output& faulty, const std::stop_token& stop) {
  const Comparison right = compare_steps(trace, {trace.phases, trace.symbols}, step_tolerance, stop);
  return right.departure && compare(faulty, right.output).error == 0;
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
  const auto operations_of = [&](Index index) -> const std::vector<Operation>& {
    return equations.phases[static_cast<std::size_t>(trace.block(index).phase)].operations;
  };
  const auto compare_up_to = [&](std::string_view end, Index index, const Record& record) {
    if (comparison.departure) return;
    for (const Operation& operation : operations_of(index)) {
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
    const std::vector<Operation>& operations = operations_of(error.block);
    const auto operation = std::ranges::find(operations, error.operation, &Operation::id);
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
  Comparison comparison = compare_steps(trace, *faulty, step_tolerance, stop);
  FaultRun run{.departure = std::move(comparison.departure),
               .output = std::move(comparison.output),
               .message = std::move(comparison.message)};
  if (!run.message.empty()) return run;
  run.judgement = judge(run.output);
  // Where rounding is amplified, the right equations depart from the engine as well.
  if (run.departure && run.judgement.passed() && is_no_change(trace, run.output, stop)) run.departure = {};
  return run;
}

}  // namespace palimpsest
