#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/steps/trace.h"

namespace palimpsest {

/// What may happen on the way of interpret().
struct Interpreting {
  /// Applied to every result before anything reads it: a precision to look through. Empty: f64 as it is.
  std::function<Matrix<double>(const Matrix<double>&)> rounded = {};
  /// Called after every block with all that its operations read and made.
  std::function<void(Index block, const Record& record)> visit = {};
  std::stop_token stop = {};
};

/// An equation that cannot be carried out: an operand is not there, or shapes do not fit.
class StepError : public Error {
 public:
  StepError(Index new_block, const Operation& new_operation, Record new_made, const std::string& reason);

  Index block;
  std::string operation;  // its id
  Record made;            // what the operations of the block before it read and made
};

/// Carries out a form by its equations alone: block after block, operations in order, each reading what the
/// equations before it made and what Phase::carries brings from earlier blocks. From the trace's own records
/// come only the rows of the sequence, its parameters and what the form starts from. `phases` are those of
/// the trace, or edited ones with as many blocks. Gives what Rule::run() gives; of an empty sequence, which
/// has no blocks, no rows and no states. Throws StepError where an equation cannot be carried out, Cancelled
/// when asked to stop.
Output interpret(Trace& trace, std::span<const Phase> phases, const Interpreting& how = {});

/// The same with the trace's own equations.
Output interpret(Trace& trace, const Interpreting& how = {});

}  // namespace palimpsest
