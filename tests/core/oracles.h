#pragma once

#include <string>

#include "core/base/array.h"
#include "core/contract/variant.h"
#include "core/rules/rule.h"

namespace palimpsest::testing {

/// The rule `id` straight from its definition in spec 3, in f64, for one head: o and the final states as
/// `variant.states` names them. Where the rule has a published recurrence (Variant::recurrence) that is
/// carried out as it is written; else the definition is written down here. Shares nothing with the engines.
/// `settings` are resolved.
Output direct(const std::string& id, const Arrays& arrays, const Settings& settings);

}  // namespace palimpsest::testing
