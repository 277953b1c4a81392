#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/output.h"
#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/proof/faults.h"

namespace palimpsest {

/// A way to compute a form that is right on paper but not in numbers, as an edit of its equations.
struct FragileForm {
  Fault way;                  // as for with_fault()
  std::string fails_when;     // the regime
  bool always_wrong = false;  // not fragile: wrong for any numbers
};

/// Every fragile form. The only list there is (spec 2.6, 6).
std::span<const FragileForm> fragile_forms();

/// The fragile form with this id; throws InputError listing the known ones.
const FragileForm& find_fragile_form(std::string_view id);

/// Arrays for a fragile form, made of others.
struct FragileData {
  Arrays arrays;
  std::string words;  // what was done to them; empty: they are as they were
};

/// One head's `arrays` of `variant` changed so that `fragile` breaks on them in blocks of `block` tokens, or
/// (`breaks` false) so that it need not: decays that fall below the smallest number in a block, a gate of
/// exactly 0, keys that resemble each other. Arrays that a rule lacks are not made up.
FragileData fragile_data(const FragileForm& fragile, const Variant& variant, const Arrays& arrays,
                         Index block, bool breaks);

/// Where a tensor first holds a number that is none, or infinite.
struct NotFiniteNumber {
  std::string tensor;
  std::string title;  // of the operation that makes it
  Index token = 0;    // of a tensor without token rows the last of the block
  Index row = 0;
  Index column = 0;
  double value = 0;
};

/// What a fragile form comes to on one sequence, in f64.
struct FragileRun {
  std::vector<double> errors = {};           // [T] as Disagreement measures, against the f64 recurrence
  Disagreement worst = {};                   // over outputs and states
  std::vector<double> right_errors = {};     // those of the form as it should be,
  Disagreement right_worst = {};             // and its worst
  std::vector<NotFiniteNumber> broken = {};  // in the order of the operations that make them
  std::optional<FormulaChange> change = {};  // where it parts from the right one
  Symbols symbols = {};                      // of its formula
};

/// Carries out `form` of `variant` with the equations of `fragile`; nothing where it has none of their kind.
/// Throws Unsupported where the form does not exist, Cancelled.
std::optional<FragileRun> run_fragile(const FragileForm& fragile, const Variant& variant,
                                      const Sequence& sequence, Form form, Index chunk_size,
                                      std::stop_token stop = {});

}  // namespace palimpsest
