#pragma once

#include "core/base/error.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// Options of interpret().
struct Interpreting {
  /// Applied to every result before anything reads it, such as rounding to a precision. Empty: plain f64.
  std::function<Matrix<double>(const Matrix<double>&)> rounded = {};
  /// Called after every block with all that its operations read and made.
  std::function<void(Index block, const Record& record)> visit = {};
  std::stop_token stop = {};
};

/// An equation that cannot be evaluated: an operand is missing, or shapes do not fit.
class StepError : public Error {
 public:
  StepError(Index new_block, const Operation& new_operation, Record new_made, const std::string& reason);

  Index block;
  std::string operation;  // its id
  Record made;            // what the operations of the block before it read and made
};

/// Evaluates the blocks of a form one after the other, as interpret() does. A copy continues from where it
/// was copied. `trace` and `phases` must outlive it.
class BlockInterpreter {
 public:
  BlockInterpreter(const Trace& trace, std::span<const Phase> phases);

  Index next() const { return next_; }
  /// All that the operations of the next block read and make. Throws as interpret() does.
  Record step(const Interpreting& how = {});
  /// Every tensor as the last block that has it left it.
  const Record& latest() const { return latest_; }

 private:
  Record carried_out(Index index, const Block& block, const Record& recorded, const Interpreting& how) const;
  Record brought(const Phase& phase, const Block& block, const Record& recorded) const;
  void keep(const Block& block, const Record& record);

  const Trace* trace_;
  std::span<const Phase> phases_;
  Index next_ = 0;
  Record latest_;
  // To the phase after, by first token.
  std::map<std::pair<std::string, Index>, std::shared_ptr<const Matrix<double>>> handed_;
};

/// Evaluates a form by its equations alone: block after block, operations in order, each reading what the
/// equations before it made and what Phase::carries brings from earlier blocks. From the trace's own records
/// come only the rows of the sequence, its parameters and the initial states. `phases` are those of the
/// trace, or edited ones with as many blocks. Returns what Rule::run() returns; for an empty sequence, which
/// has no blocks, no rows and no states. Throws StepError where an equation cannot be evaluated, Cancelled
/// when asked to stop.
Output interpret(const Trace& trace, std::span<const Phase> phases, const Interpreting& how = {});

}  // namespace palimpsest
