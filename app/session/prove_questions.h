#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/learn_questions.h"
#include "core/proof/departure.h"
#include "core/proof/fragile_forms.h"
#include "core/proof/precision_lens.h"
#include "core/proof/reference_run.h"
#include "core/proof/verify.h"

// What Prove asks for, always of the foundation without a fault (without_fault): which fault is in does not
// change what others come to.

namespace palimpsest {

/// How far a form is from the f64 recurrence at every word: in f64 as the device computes it, else looked at
/// through an arithmetic (core/proof/precision_lens.h). Seen::message says why there is none.
struct ProofLine {
  using Value = Seen;

  Weak<Foundation> of = {};
  Form form = Form::recurrent;
  Arithmetic arithmetic = Arithmetic::f64;

  std::string subject() const;
  auto operator<=>(const ProofLine&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What a fault does to a form here.
struct FaultFigures {
  std::string without = {};         // why the form cannot have it, or that it changes no number; mostly empty
  std::string message = {};         // why an equation cannot be carried out; mostly empty
  Judgement judgement = {};         // as verify() judges it
  std::vector<double> errors = {};  // [T] of the outputs
  Index first_wrong = -1;           // the first token whose output is beyond what is allowed; -1: none
  std::optional<Departure> departure = {};  // the first step that is off

  bool noticed() const { return !message.empty() || !judgement.passed(); }
};

struct FaultHere {
  using Value = FaultFigures;

  Weak<Foundation> of = {};
  Form form = Form::chunkwise;
  std::string fault = {};

  std::string subject() const { return fault + subject_of_data(of); }
  auto operator<=>(const FaultHere&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The first tensor that a fault makes wrong, with the symbols of its formula.
struct WrongPlace {
  WrongTensor tensor;
  Symbols symbols;
  Matrix<double> apart = {};  // is - should be; empty where they cannot be compared
  Index first_row = 0;        // of the part that its pictures show: a large tensor is cut around the
  Index first_column = 0;     // first wrong row
  double range = 1;           // of its colours: nearly all numbers of both lie within,
  double beyond = 0;          // this part of the difference does not
  double should_range = 1;    // of what should be: its own where it would be blank on the common one
  std::uint64_t version = 0;  // of its pictures
};

/// Nothing where no step is off.
struct WrongHere {
  using Value = std::optional<WrongPlace>;

  Weak<Foundation> of = {};
  Form form = Form::chunkwise;
  std::string fault = {};             // empty: where the device parts from the CPU
  double tolerance = step_tolerance;  // of that

  auto operator<=>(const WrongHere&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// A fragile form on the words that are open, with arrays on which it breaks, or need not.
struct FragileFigures {
  const Variant* variant = nullptr;  // the rule that it is shown in: the present one where that has its like
  Form form = Form::chunkwise;
  Index chunk_size = 1;
  std::string data_words = {};  // what was done to the arrays
  std::optional<FragileRun> run = {};
  std::string reason = {};  // why there is none

  /// Whether it gives what it should here.
  bool holds() const;
};

struct FragileHere {
  using Value = FragileFigures;

  Weak<Foundation> of = {};
  std::string fragile = {};
  bool breaks = true;

  std::string subject() const { return fragile + subject_of_data(of); }
  auto operator<=>(const FragileHere&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// How many digits every form loses by adding up.
struct DigitsHere {
  using Value = std::vector<DigitsLost>;

  Weak<Foundation> of = {};
  auto operator<=>(const DigitsHere&) const = default;
  Found<Value> compute(const Foundation& foundation, const Effort& effort) const;
};

/// All that verify() checks of one variant, on every device that can be used here.
struct VerifiedVariant {
  using Value = VerifyReport;

  std::string variant = {};
  bool with_long_texts = false;  // 1000 and 4096 tokens too

  auto operator<=>(const VerifiedVariant&) const = default;
  Found<Value> compute(const Effort& effort) const;
};

/// The forms of the present rule that exist.
std::vector<Form> forms_of(const Foundation& foundation);

/// "o", in one line: "off by 0.32", or why not, as the list of faults says it.
std::string size_words(const FaultFigures& figures);

}  // namespace palimpsest
