#pragma once

#include <memory>

#include "core/rules/rule.h"
#include "core/steps/softmax_trace.h"

namespace palimpsest {

/// Causal softmax attention over a cache of keys and values (spec 3.1), with states k_cache and v_cache and,
/// where keys fade, the one in which their gates are handed on.
std::shared_ptr<const Rule> softmax_rule(KeyFading fading = {});

}  // namespace palimpsest
