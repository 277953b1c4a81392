#pragma once

#include "core/contract/output.h"
#include "core/contract/variant.h"
#include "core/numbers/arithmetic.h"

namespace palimpsest {

/// Evaluates one form in a number format. Rounded are
///   - every input array, initial states too (not the parameters),
///   - every result of an equation of the form, before anything reads it: the operations of a trace.
/// Inside an equation, also in a solve, a running product or a sum, everything is f64: what an accumulator of
/// higher precision gives, and no more than that.
struct Lens {
  Form form = Form::recurrent;
  Arithmetic arithmetic = Arithmetic::f64;
  Index chunk_size = 1;
};

/// A number that is lost: 0, infinite or NaN where the same tensor of the same form in f64, on the unrounded
/// arrays, is not. It is lost where it is computed or input, not where a later block reads it.
struct LostNumber {
  enum class As {
    underflow,     // 0: too small for the arithmetic, which rounds it away
    cancelled,     // 0: the rounded numbers that it is computed from cancel
    made_of_lost,  // 0: its operands were lost before, as one of these
    infinite,
    not_a_number
  };

  As as = As::underflow;
  std::string tensor;
  std::string operation;  // the id of what makes the tensor; empty: it comes in
  std::string title;      // of that operation
  bool is_gate = false;
  Index block = 0;  // where the tensor first has lost one,
  Index token = 0;  // of a tensor without token rows the last of the block
  Index row = 0;
  Index column = 0;
  double expected = 0;  // what stands there in f64
  Index count = 0;      // cells of this tensor lost this way, in all blocks
};

/// Whether it became 0.
constexpr bool is_zero(LostNumber::As as) {
  return is_among(as, {LostNumber::As::underflow, LostNumber::As::cancelled, LostNumber::As::made_of_lost});
}

/// How it was lost: "underflows to 0".
const char* in_words(LostNumber::As as);

/// The result.
struct Seen {
  Lens lens;
  std::vector<double> errors = {};  // [T] max|o_t - o'_t| / max|o'|, o' the f64 recurrence on arrays as given
  Disagreement worst = {};          // the same over all tokens and states
  std::vector<LostNumber> lost = {};  // the first of every tensor and kind, in the order of the losses
  std::string message = {};           // why the equations could not be carried out; mostly empty
};

/// One head of `arrays` through `lens`. Throws Unsupported where the form does not exist, InputError where
/// the rounded arrays are out of range, Cancelled when asked to stop.
Seen look(const Variant& variant, const std::shared_ptr<const Arrays>& arrays, const Settings& given,
          const Lens& lens, std::size_t head = 0, std::stop_token stop = {});

}  // namespace palimpsest
