#pragma once

#include <optional>
#include <string>

#include "core/rules/backend.h"

namespace palimpsest {

/// When a form does not exist on a device, and why.
struct Gap {
  std::string when;  // "always"; or the options with which it is missing: "a = x, or b = y with c = z"
  std::string reason;

  bool operator==(const Gap&) const = default;
};

/// The settings with which `variant` cannot run like this; nothing if it always can.
std::optional<Gap> gap(const Backend& backend, const Variant& variant, Form form, Precision precision);

}  // namespace palimpsest
