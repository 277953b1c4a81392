#pragma once

#include <limits>

#include "core/rules/rule.h"

namespace palimpsest {

/// The largest allowed difference of a run from the reference, measured as Disagreement::error.
struct Tolerance {
  double error = 0;
  std::string reason = {};  // why it is not the usual one, with the measured factor; usually empty

  bool operator==(const Tolerance&) const = default;
};

/// The tolerance of every form of `variant` with resolved `settings` in this precision: 1e-10 in f64, 2e-5 in
/// f32, 5e-3 in tf32, 2e-2 in bf16, and more in f32 where Muon amplifies rounding. For ordinary inputs; for
/// others see docs/accuracy.md. Tolerances are defined only here.
Tolerance tolerance(const Variant& variant, const Settings& settings, Precision precision);

/// How far two runs of the same equations may be apart at any step, as a fraction of a tensor's largest
/// element: rounding in f64, amplified at most 485 times by Newton and Schulz.
inline constexpr double step_tolerance = 1e-8;

/// The same arrays as f32 holds them.
Arrays rounded_to_f32(const Arrays& arrays);

/// The f64 recurrence; chunks of one token where a rule has none. Of a rule from a text, what its lines give.
Output reference(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// How far a run is from its reference, and how far it may be, for the worst array: the one that exceeds its
/// tolerance most, or if none does, the one with the largest error.
struct Judgement {
  Disagreement disagreement = {};
  Tolerance tolerance = {};
  double amplification = 1;   // the factor of the tolerance, where rounding is amplified
  Index amplified_from = -1;  // the first token after which the states need more than the tolerance; -1: none
  bool overflows = false;     // the text that is the reference leaves the precision: nothing can be compared

  /// What the error must stay below; anything where nothing can be compared.
  double allowed() const {
    return overflows ? std::numeric_limits<double>::infinity() : tolerance.error * amplification;
  }
  bool passed() const { return disagreement.error <= allowed(); }
  /// Whether more is allowed than the array's largest number: no comparison can tell right from wrong.
  bool says_nothing() const { return allowed() >= 1; }
  /// Whether this is the one of two to report: one that failed, or the larger excess; else the larger error.
  bool is_worse_than(const Judgement& other) const;
};

/// One head's inputs as a precision holds them, parameters too: in bf16 q, k and v as bf16, the rest, and in
/// tf32 everything, as f32.
struct HeldInputs {
  std::shared_ptr<const Arrays> arrays;
  Sequence sequence;
};

/// The inputs of the first head of `arrays`. Throws what bind() throws, also for a number that rounding moves
/// out of its range.
HeldInputs held_inputs(const Variant& variant, std::shared_ptr<const Arrays> arrays, const Settings& given,
                       Precision precision);

/// The result of the f64 recurrence on one head's inputs as a precision holds them: the reference of every
/// form that is run on them in that precision.
class ReferenceRun {
 public:
  /// Throws what the recurrence throws.
  ReferenceRun(const Variant& variant, HeldInputs inputs, Precision precision, std::stop_token stop = {});
  /// The inputs as the precision holds them.
  const Sequence& sequence() const { return inputs_.sequence; }
  /// The result of the f64 recurrence on sequence().
  const Output& expected() const { return expected_; }

  /// Whether a text whose lines are the reference leaves what the precision holds: no form can be compared.
  bool overflows() const;

  /// How far `got`, computed from sequence() by `form`, is from expected(). For an array beyond `tolerance`
  /// the tolerance is multiplied by amplification().
  Judgement judge(const Output& got, Form form, Index chunk_size, const Tolerance& tolerance,
                  std::stop_token stop = {});

  /// By what factor results change more than one rounding (half a unit in the last place). The largest of:
  /// several draws of the f64 recurrence with every input moved towards zero by up to 2^-53 of itself (2^-24
  /// in f32; factors of products by 2^-11 in tf32, by 2^-8 in bf16); the sums of a form of a row program
  /// (Rule::amplification()); and underflow in the precision. Independent of the run that is judged.
  Amplification amplification(Form form, Index chunk_size, std::stop_token stop = {});

  /// Why a run is allowed more than its tolerance, in a sentence; empty where it is not.
  std::string why_amplified(const Judgement& judgement, Form form, Index chunk_size,
                            std::stop_token stop = {});

 private:
  /// Half a unit in the last place of a number near 1, as the factors of products are held.
  double unit() const;
  Amplification amplification_of_inputs(const std::stop_token& stop) const;

  const Variant* variant_;
  Precision precision_;
  HeldInputs inputs_;
  Output expected_;
  std::optional<Amplification> of_inputs_ = {};                          // measured when first asked, as are
  std::map<std::pair<Form, Index>, Amplification> amplifications_ = {};  // these, by form and chunk size
};

/// By what factor a form amplifies rounding, because it adds up many writes before they cancel.
struct DigitsLost {
  Form form = Form::recurrent;
  Index at_once = 1;    // tokens
  double factor = 1;    // of the outputs, at least 1; infinite where nothing of them is left
  double of_state = 1;  // the same of the state that is worst
};

/// The digits lost in these forms, from ReferenceRun::amplification.
std::vector<DigitsLost> digits_lost(ReferenceRun& reference, const std::vector<Form>& forms, Index chunk_size,
                                    std::stop_token stop = {});

/// What that means for a sum over many tokens, in sentences.
std::string in_words(const std::vector<DigitsLost>& lost);

}  // namespace palimpsest
