#pragma once

#include "core/rules/backend.h"
#include "core/variants/variants.h"

namespace palimpsest {

/// Versions, devices, and every variant of `table` with the devices that run its forms.
std::string overview_text(std::span<const Variant> table = variants());

/// What overview_text() tells and everything about every variant, for programs; names as in the contract.
std::string overview_json(std::span<const Variant> table = variants());

/// When a form does not exist on a device, and why.
struct Gap {
  std::string when;  // "always"; or the options with which it is missing: "a = x, or b = y with c = z"
  std::string reason;

  bool operator==(const Gap&) const = default;
};

/// The settings with which `variant` cannot run like this; nothing if it always can.
std::optional<Gap> gap(const Backend& backend, const Variant& variant, Form form, Precision precision);

}  // namespace palimpsest
