#pragma once

#include <optional>
#include <string>

#include "core/proof/fault_edits.h"

namespace palimpsest {

/// The name that a changed piece of a formula has in FormulaChange::is, to be boxed (LatexStyle::boxed).
inline constexpr const char* changed_piece = "changed piece";

/// Where an edited formula parts from the right one.
struct FormulaChange {
  Equation is;                               // the edited one, its changed piece named `changed_piece`
  bool is_sign = false;                      // of that piece only the sign in its middle is another
  std::optional<Expression> piece = {};      // what stands there; nothing: nothing has changed in it,
  std::optional<Expression> should_be = {};  // and what should; of a sign the whole sum or difference
  std::string carried = {};  // or an operand that comes in another way, in words; empty: none does
};

/// The smallest piece in which the operation `id` of a phase differs between right and edited equations. An
/// operation that only the edited ones have has no piece. Throws Error for one that they lack.
FormulaChange formula_change(const Phase& right, const Phase& edited, const std::string& id);

/// The operation in which the change is seen: `id` if its formula or what is carried into it has changed,
/// else the first of the phase whose formula has; `id` where none has.
std::string changed_operation(const Phase& right, const Phase& edited, const std::string& id);

}  // namespace palimpsest
