#include "core/steps/interpreted.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace palimpsest {

namespace {

bool holds(const Carry& carry, const Block& block) {
  switch (carry.when) {
    case Carry::When::always:
    case Carry::When::same_tokens:
      return true;
    case Carry::When::starting_anew:
      return block.starts_anew;
    case Carry::When::going_on:
      return !block.starts_anew;
  }
  return false;
}

/// One run through the blocks of a trace.
class Run {
 public:
  Run(Trace& trace, std::span<const Phase> phases, const Interpreting& how)
      : trace_(trace), phases_(phases), how_(how) {}

  Output all() {
    for (Index index = 0; index < trace_.block_count(); ++index) {
      if (how_.stop.stop_requested()) throw Cancelled();
      const Block block = trace_.block(index);
      Record record = interpreted(index, block, trace_.record(index));
      if (how_.visit) how_.visit(index, record);
      keep(block, std::move(record));
    }
    if (trace_.block_count() > 0) output_.states = trace_.states(latest_);
    return std::move(output_);
  }

 private:
  Record interpreted(Index index, const Block& block, const Record& recorded) const {
    const Phase& phase = phases_[static_cast<std::size_t>(block.phase)];
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
        record.set(result, how_.rounded ? how_.rounded(value) : value);
      } catch (const Error& error) {
        throw StepError(index, operation, std::move(record), error.what());
      }
    }
    return record;
  }

  /// The operands that come from earlier blocks, or that the form starts from.
  Record brought(const Phase& phase, const Block& block, const Record& recorded) const {
    Record record;
    for (const Carry& carry : phase.carries) {
      if (!holds(carry, block)) continue;
      if (carry.when == Carry::When::same_tokens) {
        const auto handed = handed_.find({carry.from, block.first_token});
        if (handed == handed_.end())
          throw Error(fmt::format("no earlier block of these tokens made \"{}\"", carry.from));
        record.set(carry.to, handed->second);
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

  void keep(const Block& block, Record&& record) {
    const bool by_token = trace_.form == Form::recurrent;
    const char* o = by_token ? "o" : "O";
    if (record.contains(o)) {
      const Matrix<double> rows = by_token ? record.at(o).transpose() : record.at(o);
      if (output_.o.size() == 0) output_.o = Matrix<double>::Zero(trace_.tokens, rows.cols());
      output_.o.middleRows(block.first_token, block.count) = rows;
    }
    for (const Phase& phase : phases_) {
      for (const Carry& carry : phase.carries) {
        const bool is_handed = carry.when == Carry::When::same_tokens && record.contains(carry.from);
        if (is_handed) handed_.insert_or_assign({carry.from, block.first_token}, record.at(carry.from));
      }
    }
    for (const auto& [name, value] : record.tensors()) latest_.set(name, value);
  }

  Trace& trace_;
  std::span<const Phase> phases_;
  const Interpreting& how_;
  Record latest_;  // every tensor as the last block that has it left it
  std::map<std::pair<std::string, Index>, Matrix<double>> handed_;  // to the phase after, by first token
  Output output_;
};

}  // namespace

StepError::StepError(Index new_block, const Operation& new_operation, Record new_made,
                     const std::string& reason)
    : Error(fmt::format("operation {} of block {}: {}", new_operation.id, new_block, reason)),
      block(new_block),
      operation(new_operation.id),
      made(std::move(new_made)) {}

Output interpret(Trace& trace, std::span<const Phase> phases, const Interpreting& how) {
  return Run(trace, phases, how).all();
}

Output interpret(Trace& trace, const Interpreting& how) { return interpret(trace, trace.phases, how); }

}  // namespace palimpsest
