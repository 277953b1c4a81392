#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "core/disagreement.h"
#include "core/rule.h"
#include "core/sequence.h"
#include "core/tolerance.h"
#include "core/variant.h"

namespace palimpsest {

/// The same arrays as f32 holds them.
Arrays rounded_to_f32(const Arrays& arrays);

/// The f64 recurrence; chunks of one token where a rule has none.
Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// How far a run is from its reference, and how far it may be.
struct Judgement {
  Disagreement disagreement = {};
  Tolerance tolerance = {};
  double amplification = 1;  // what the tolerance is multiplied by, where the numbers amplify rounding

  /// What the error must stay below.
  double allowed() const { return tolerance.error * amplification; }
  bool passed() const { return disagreement.error <= allowed(); }
};

/// One head's inputs as a precision holds them, parameters too.
struct HeldInputs {
  std::shared_ptr<const Arrays> arrays;
  Sequence sequence;
};

/// Those of the first head of `arrays`. Throws what bind() throws, also for a number that leaves its range by
/// being rounded.
HeldInputs held_inputs(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given,
                       Precision precision);

/// What the f64 recurrence makes of one head's inputs as a precision holds them: what every form that is run
/// on them in that precision is compared with.
class ReferenceRun {
 public:
  /// Throws what the recurrence throws.
  ReferenceRun(const Variant& variant, HeldInputs inputs, Precision precision, std::stop_token stop = {});

  /// The inputs as the precision holds them.
  const Sequence& sequence() const { return inputs_.sequence; }

  /// What the f64 recurrence makes of sequence().
  const Output& expected() const { return expected_; }

  /// How far `got`, made from sequence(), is from expected(). An f32 run beyond `tolerance` is allowed as
  /// much more as its numbers amplify rounding.
  Judgement judge(const Output& got, const Tolerance& tolerance, std::stop_token stop = {});

  /// How many times further than the inputs the results of the f64 recurrence move when every input, or every
  /// row and state of a row program, is rounded once more, towards zero by up to one unit (2^-24 of itself in
  /// f32): the largest of several draws, at least 1. Measured when first asked.
  double amplification(std::stop_token stop = {});

 private:
  double measured_amplification(const std::stop_token& stop) const;

  const Variant* variant_;
  Precision precision_;
  HeldInputs inputs_;
  Output expected_;
  std::optional<double> amplification_ = {};
};

}  // namespace palimpsest
