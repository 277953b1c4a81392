#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/sequence.h"
#include "core/contract/variant.h"
#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Versions, devices, and every variant of `table` with the devices that run its forms.
std::string overview_text(std::span<const Variant> table = variants());

/// Everything about one variant: arrays, parameters, options, states, forms, formulas, paper.
std::string variant_text(const Variant& variant);

/// What overview_text() tells and everything about every variant, for programs; names as in the contract.
std::string overview_json(std::span<const Variant> table = variants());

/// Everything about one variant, for programs.
std::string variant_json(const Variant& variant);

/// The numbers a parameter accepts, as ranges of arrays are written: "[0, 1]", ">= 0", "finite".
std::string range_text(const Parameter& parameter);

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

/// When a form does not exist on a device, and why.
struct Gap {
  std::string when;  // "always"; or the options with which it is missing: "a = x, or b = y with c = z"
  std::string reason;

  bool operator==(const Gap&) const = default;
};

/// The settings with which `variant` cannot run like this; nothing if it always can.
std::optional<Gap> gap(const Backend& backend, const Variant& variant, Form form, Precision precision);

}  // namespace palimpsest
