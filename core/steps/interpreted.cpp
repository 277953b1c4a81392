#include "core/steps/interpreted.h"

#include <fmt/format.h>

#include <set>

namespace palimpsest {

namespace {

bool holds(const Carry& carry, const Block& block) {
  if (carry.when == Carry::When::starting_anew) return block.starts_anew;
  return carry.when != Carry::When::going_on || !block.starts_anew;
}

void add_rows(Output& output, const Trace& trace, const Block& block, const Record& record) {
  const bool by_token = trace.form == Form::recurrent;
  const char* o = by_token ? "o" : "O";
  if (!record.contains(o)) return;
  const Matrix<double> rows = by_token ? record.at(o).transpose() : record.at(o);
  if (output.o.size() == 0) output.o = Matrix<double>::Zero(trace.tokens, rows.cols());
  output.o.middleRows(block.first_token, block.count) = rows;
}

}  // namespace

BlockInterpreter::BlockInterpreter(const Trace& trace, std::span<const Phase> phases)
    : trace_(&trace), phases_(phases) {}

Record BlockInterpreter::step(const Interpreting& how) {
  stop_if_asked(how.stop);
  const Block block = trace_->block(next_);
  const std::shared_ptr<const Record> recorded = trace_->shared_record(next_, how.stop);
  Record record = carried_out(next_, block, *recorded, how);
  keep(block, record);
  ++next_;
  return record;
}

Record BlockInterpreter::carried_out(Index index, const Block& block, const Record& recorded,
                                     const Interpreting& how) const {
  const Phase& phase = entry(phases_, block.phase);
  Record record = brought(phase, block, recorded);
  std::set<std::string_view> made;
  for (const Operation& operation : phase.operations) made.insert(operation.equation.result);
  for (const Operation& operation : phase.operations) {
    const auto& [result, expression] = operation.equation;
    try {
      for (const std::string& operand : operands(expression)) {
        if (record.contains(operand)) continue;
        if (made.contains(operand)) throw Error(fmt::format("\"{}\" is not made yet", operand));
        record.set(operand, recorded.at(operand));
      }
      const Matrix<double> value = evaluate(expression, record);
      record.set(result, how.rounded ? how.rounded(value) : value);
    } catch (const Error& error) {
      throw StepError(index, operation, std::move(record), error.what());
    }
  }
  return record;
}

/// The operands that come from earlier blocks, or that the form starts from.
Record BlockInterpreter::brought(const Phase& phase, const Block& block, const Record& recorded) const {
  Record record;
  for (const Carry& carry : phase.carries) {
    if (!holds(carry, block)) continue;
    if (carry.when == Carry::When::same_tokens) {
      const auto handed = handed_.find({carry.from, block.first_token});
      if (handed == handed_.end())
        throw Error(fmt::format("no earlier block of these tokens made \"{}\"", carry.from));
      record.set(carry.to, *handed->second);
    } else if (latest_.contains(carry.from)) {
      record.set(carry.to, latest_.at(carry.from));
    } else if (carry.starts_empty) {
      const Matrix<double>& like = recorded.at(recorded.contains(carry.to) ? carry.to : carry.from);
      record.set(carry.to, Matrix<double>::Zero(like.rows(), like.cols()));
    } else {
      record.set(carry.to, recorded.at(carry.to));
    }
  }
  return record;
}

void BlockInterpreter::keep(const Block& block, const Record& record) {
  for (const Phase& phase : phases_) {
    for (const Carry& carry : phase.carries) {
      if (carry.when != Carry::When::same_tokens || !record.contains(carry.from)) continue;
      handed_.insert_or_assign({carry.from, block.first_token},
                               std::make_shared<const Matrix<double>>(record.at(carry.from)));
    }
  }
  for (const auto& [name, value] : record.tensors()) latest_.set(name, value);
}

StepError::StepError(Index new_block, const Operation& new_operation, Record new_made,
                     const std::string& reason)
    : Error(fmt::format("operation {} of block {}: {}", new_operation.id, new_block, reason)),
      block(new_block),
      operation(new_operation.id),
      made(std::move(new_made)) {}

Output interpret(const Trace& trace, std::span<const Phase> phases, const Interpreting& how) {
  BlockInterpreter blocks(trace, phases);
  Output output;
  while (blocks.next() < trace.block_count()) {
    const Index index = blocks.next();
    const Record record = blocks.step(how);
    if (how.visit) how.visit(index, record);
    add_rows(output, trace, trace.block(index), record);
  }
  if (trace.block_count() > 0) output.states = trace.states(blocks.latest());
  return output;
}

}  // namespace palimpsest
