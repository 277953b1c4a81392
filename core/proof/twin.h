#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// The rule of the table that computes the same as `rule`: it takes the same arrays and settings, and its f64
/// recurrence agrees on three random sequences within 1e-12. Null where there is none. Numbers, not algebra.
const Variant* twin_of(const Variant& rule);

}  // namespace palimpsest
