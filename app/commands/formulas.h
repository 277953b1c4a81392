#pragma once

#include <string>
#include <vector>

#include "core/contract/sequence.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// One step of a form, as a formula.
struct Formula {
  std::string operation;  // its id: "decay"
  std::string title;      // what it does in words
  std::string latex;
  std::string text;  // the same in plain Unicode
};

/// One token of random arrays, with or without those that are optional, a scale and the default options.
Sequence smallest_sequence(const Variant& variant, bool with_optional);

/// The steps of one form with the default options, in order; none if the form does not exist.
std::vector<Formula> formulas(const Variant& variant, Form form);

}  // namespace palimpsest
