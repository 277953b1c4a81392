#include "core/proof/wrong_tensor.h"

#include <algorithm>

#include "core/base/error.h"

namespace palimpsest {

namespace {

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

}  // namespace

WrongTensor wrong_tensor(const Trace& right, const Trace& trace, const Departure& departure,
                         std::stop_token stop) {
  const Block block = trace.block(departure.block);
  const Phase& phase = trace.phase(block);
  const auto should_be = right.shared_record(departure.block, stop);
  const auto record = trace.shared_record(departure.block, stop);
  return {.departure = departure,
          .change = formula_change(right.phase(block), phase, departure.operation),
          .changed_in = departure.operation,
          .should_be = should_be->at(departure.tensor),
          .is = record->at(departure.tensor),
          .first_token = block.first_token,
          .tokens = block.count,
          .why_should_be = why(phase, departure.operation, right.symbols, *should_be, departure),
          .why_is = why(phase, departure.operation, trace.symbols, *record, departure)};
}

WrongTensor wrong_tensor(const EditedTrace& edited, const Departure& departure, std::stop_token stop) {
  const Trace& right = edited.right();
  const Block block = right.block(departure.block);
  const Phase& right_phase = right.phase(block);
  const Phase& edited_phase = edited.phase(block);
  const std::string changed_in = changed_operation(right_phase, edited_phase, departure.operation);
  WrongTensor wrong{.departure = departure,
                    .change = formula_change(right_phase, edited_phase, changed_in),
                    .changed_in = changed_in,
                    .first_token = block.first_token,
                    .tokens = block.count};
  const auto right_record = right.shared_record(departure.block, stop);
  if (right_record->contains(departure.tensor)) wrong.should_be = right_record->at(departure.tensor);
  wrong.why_should_be = why(right_phase, departure.operation, right.symbols, *right_record, departure);
  try {
    const auto record = edited.shared_record(departure.block, stop);
    wrong.is = record->at(departure.tensor);
    wrong.why_is = why(edited_phase, departure.operation, edited.symbols, *record, departure);
  } catch (const StepError& error) {
    if (error.made.contains(departure.tensor)) wrong.is = error.made.at(departure.tensor);
  }
  return wrong;
}

}  // namespace palimpsest
