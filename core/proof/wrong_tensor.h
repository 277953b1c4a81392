#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "core/proof/departure.h"
#include "core/proof/edited_trace.h"
#include "core/proof/formula_change.h"

namespace palimpsest {

/// The first tensor that a faulty form gets wrong, beside what it should be.
struct WrongTensor {
  Departure departure;
  FormulaChange change;           // in the formula of
  std::string changed_in;         // this operation
  Matrix<double> should_be = {};  // the tensor as the right form has it
  Matrix<double> is = {};         // and as the faulty one; empty where it could not be made
  Index first_token = 0;          // of the block that both cover,
  Index tokens = 0;               // and how many
  std::optional<Explanation> why_should_be =
      {};                                  // the arithmetic of the cell that is furthest off in the first
  std::optional<Explanation> why_is = {};  // wrong row, both ways; nothing where it has none
};

/// The tensor that `departure` names in the records of the same steps computed by other engines: the formula
/// is the right one. Throws Cancelled when asked to stop.
WrongTensor wrong_tensor(const Trace& right, const Trace& trace, const Departure& departure,
                         std::stop_token stop = {});

/// The tensor that `departure` names, from both records. Throws Cancelled when asked to stop.
WrongTensor wrong_tensor(const EditedTrace& edited, const Departure& departure, std::stop_token stop = {});

}  // namespace palimpsest
