#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/learn_answers.h"
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
struct ProofLine : OfFoundation {
  using Value = Seen;

  Form form = Form::recurrent;
  Arithmetic arithmetic = Arithmetic::f64;

  std::string question() const;
  bool operator<(const ProofLine& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& line);
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

struct FaultHere : OfFoundation {
  using Value = FaultFigures;

  Form form = Form::chunkwise;
  std::string fault = {};

  std::string question() const { return fault + OfFoundation::question(); }
  bool operator<(const FaultHere& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& figures);
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
struct WrongHere : OfFoundation {
  using Value = std::optional<WrongPlace>;

  Form form = Form::chunkwise;
  std::string fault = {};             // empty: where the device parts from the CPU
  double tolerance = step_tolerance;  // of that

  bool operator<(const WrongHere& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& place);
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

struct FragileHere : OfFoundation {
  using Value = FragileFigures;

  std::string fragile = {};
  bool breaks = true;

  std::string question() const { return fragile + OfFoundation::question(); }
  bool operator<(const FragileHere& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& figures);
};

/// How many digits every form loses by adding up.
struct DigitsHere : OfFoundation {
  using Value = std::vector<DigitsLost>;

  bool operator<(const DigitsHere& other) const { return is_before(other).value_or(false); }
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& lost) { return lost.size() * sizeof(DigitsLost); }
};

/// All that verify() checks of one variant, on every device that can be used here.
struct VerifiedVariant {
  using Value = VerifyReport;

  std::string variant;
  bool with_long_texts = false;  // 1000 and 4096 tokens too

  bool operator<(const VerifiedVariant& other) const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& report);
};

/// The forms of the present rule that exist.
std::vector<Form> forms_of(const Foundation& foundation);

/// "o", in one line: "off by 0.32", or why not, as the list of faults says it.
std::string size_words(const FaultFigures& figures);

}  // namespace palimpsest
