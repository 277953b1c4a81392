#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/proof/fault_edits.h"

namespace palimpsest {

/// A mistake that people make in writing down a form, as an edit of its equations.
struct Fault {
  std::string id;        // "solve-sign"
  std::string label;     // "Wrong sign in the solve"
  std::string sentence;  // what was done wrong, and where that is seen
  std::string needs;     // what a form must have to go wrong this way: "a solve"
  std::function<void(EquationEditor&)> edit;
  std::string silent = {};  // where the edit changes no number, whatever the data are; mostly empty
};

/// Every fault. The only list there is.
std::span<const Fault> faults();

/// The fault with this id; throws InputError listing the known ones.
const Fault& find_fault(std::string_view id);

/// The equations of `right` with the fault in them; nothing where the form has nothing of the kind that goes
/// wrong (Fault::needs says what).
std::optional<Equations> with_fault(const Fault& fault, const Equations& right);

/// Whether any equation or carry differs.
bool operator==(const Equations& a, const Equations& b);

}  // namespace palimpsest
