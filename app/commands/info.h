#pragma once

#include <span>
#include <string>

#include "core/contract/variant.h"
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

}  // namespace palimpsest
