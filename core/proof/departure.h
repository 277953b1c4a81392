#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/proof/faults.h"
#include "core/proof/reference_run.h"
#include "core/rules/rule.h"

namespace palimpsest {

/// The first step in which a form is not what it should be.
struct Departure {
  Index block = 0;
  std::string phase = {};  // its title, where the form has several
  std::string operation;   // its id
  std::string title;
  std::string tensor;  // what it makes
  Index token = 0;     // of the first row that is off; of a result without token rows, the block's last token
  Index row = 0;       // where it is furthest off: a cell of that row, or of the whole result
  Index column = 0;
  double got = 0;
  double expected = 0;
  Index rows_per_token = 0;  // of the result; 0: its rows are no tokens
};

/// The step and its numbers: "token 3, block 1 (its phase), operation error (What is missing): error[2, 0] is
/// 0.5, expected 0.25".
std::string to_string(const Departure& departure);

/// What carrying out other equations than a trace's own comes to.
struct Comparison {
  std::optional<Departure> departure;  // nothing: no step is off by more than the tolerance
  Output output;                       // incomplete where an equation could not be carried out
  std::string message;                 // why it could not
};

/// The first step in which the records of a form's `trace` are off those of `right`, the same steps computed
/// by other engines. A tensor that an engine never makes is passed over. Throws Cancelled.
std::optional<Departure> departure_from(const Trace& right, const Trace& trace, double tolerance,
                                        std::stop_token stop = {});

/// Carries out `equations` on the sequence of `trace` and compares every result with the engine's, in order.
/// Throws Cancelled when asked to stop.
Comparison compare_steps(Trace& trace, const Equations& equations, double tolerance = step_tolerance,
                         std::stop_token stop = {});

/// The first tensor that a faulty form gets wrong, beside what it should be.
struct WrongTensor {
  Departure departure;
  FormulaChange change;
  Matrix<double> should_be = {};  // the tensor as the right form has it
  Matrix<double> is = {};         // and as the faulty one; empty where it could not be made
  Index first_token = 0;          // of the block that both cover,
  Index tokens = 0;               // and how many
  // The arithmetic of the cell that is furthest off in the first wrong row; nothing where it has none.
  std::optional<Explanation> why_should_be = {};
  std::optional<Explanation> why_is = {};
};

/// The tensor that `departure` names, from the records of a form as it should be and as it is: with other
/// equations (EditedTrace), or computed by other engines. Throws Cancelled when asked to stop.
WrongTensor wrong_tensor(const Trace& right, const Trace& trace, const Departure& departure,
                         std::stop_token stop = {});

/// What one form comes to with a fault in it.
struct FaultRun {
  Judgement judgement = {};                 // of the outputs and states, as verify() judges them
  std::optional<Departure> departure = {};  // the first step that is off
  Output output = {};                       // incomplete where an equation could not be carried out
  std::string message = {};                 // why it could not; mostly empty

  /// Whether verification fails, as it should.
  bool noticed() const { return !message.empty() || !judgement.passed(); }
};

/// Carries out the form of `trace` with `fault` in its equations; `judge` says how far its output is from the
/// f64 recurrence. Nothing where the form lacks what goes wrong (Fault::needs). Throws Cancelled.
std::optional<FaultRun> run_with(const Fault& fault, Trace& trace,
                                 const std::function<Judgement(const Output&)>& judge,
                                 std::stop_token stop = {});

}  // namespace palimpsest
