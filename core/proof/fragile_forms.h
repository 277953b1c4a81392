#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/proof/faults.h"

namespace palimpsest {

/// A way to compute a form that is right on paper but not in numbers, as an edit of its equations: carried
/// out like any other (core/steps/interpreted.h), in any arithmetic (core/proof/precision_lens.h).
struct FragileForm {
  Fault way;                  // as for with_fault()
  std::string fails_when;     // the regime
  bool always_wrong = false;  // not fragile: wrong for any numbers
};

/// Every fragile form. The only list there is (spec 2.6, 6).
std::span<const FragileForm> fragile_forms();

/// The fragile form with this id; throws InputError listing the known ones.
const FragileForm& find_fragile_form(std::string_view id);

}  // namespace palimpsest
